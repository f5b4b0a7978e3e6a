#include "convoke/core/versions.hpp"

#include "convoke/core/lookup.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;

TEST_CASE("a stored recipe of an earlier version has the keys of this one, in their places") {
  Settings train{{"batch", 64}, {"optimizer", "adam"}};
  train.set("lane", 8, "recipe.toml:7");
  Settings stored{
      {"train", train}, {"model", Settings{{"batch_norm", "lane"}}}, {"data", Settings{{"portion", 0.5}}}};
  rename_keys(stored);
  CHECK(value_at(stored, "train.lane") == nullptr);
  CHECK(number_at(stored, "train.micro_batch") == 8);
  CHECK(stored.place("train.micro_batch") == "recipe.toml:7");
  CHECK(number_at(stored, "data.fraction") == 0.5);
  CHECK(text_at(stored, "model.batch_norm") == "micro_batch");
  CHECK_NOTHROW(refuse_renamed_keys(stored));

  Settings model{
      {"model",
       Settings{{"layers", Value::Array{Settings{{"layer", "resize"}, {"centres", "asymmetric"}}}}}}};
  rename_keys(model);
  CHECK(text_at(tables_at(model, "model.layers").front(), "centers") == "asymmetric");

  Settings study{{"portion", Value::Array{0.5, 1.0}},
                 {"axes", Settings{{"train", Settings{{"lane", Value::Array{8}}}}}}};
  rename_keys(study);
  CHECK(numbers_at(study, "fraction") == std::vector<double>{0.5, 1.0});
  CHECK(numbers_at(study, "axes.train.micro_batch") == std::vector<double>{8});
}

TEST_CASE("a recipe with a key of an earlier version is refused, and the message names the new key") {
  Settings train;
  train.set("lane", 8, "recipe.toml:7");
  CHECK(
      refusal_of([&] {
        refuse_renamed_keys(Settings{{"train", train}});
      }) ==
      "recipe.toml:7: \"train.lane\" is now \"train.micro_batch\" | write micro_batch; its values mean the same");
  CHECK_THROWS_WITH(refuse_renamed_keys(Settings{{"model", Settings{{"batch_norm", "lane"}}}}),
                    "\"model.batch_norm\" = \"lane\" is now \"micro_batch\"");
}

TEST_CASE("an entry of a stored fingerprint has the key and the text of this version") {
  using Entry = std::pair<std::string, std::string>;
  CHECK(current_entry("train.lane", "8") == Entry{"train.micro_batch", "8"});
  CHECK(current_entry("train.batch", "64") == Entry{"train.batch", "64"});
  CHECK(current_entry("model.batch_norm", "\"lane\"") == Entry{"model.batch_norm", "\"micro_batch\""});
  CHECK(current_entry("model.batch_norm", "\"synchronized\"") ==
        Entry{"model.batch_norm", "\"synchronized\""});
}

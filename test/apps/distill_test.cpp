// One network trained on the predictions of an ensemble.
#include "apps/place.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"
#include "support/catch.hpp"
#include "support/shell.hpp"

TEST_CASE("distill trains one model like the members, the same on any ranks, and a smaller one by a recipe") {
  const Place place;
  REQUIRE(place.train("votes", "--set train.mode=ensemble --set ensemble.members=2").code == 0);
  for (const int ranks : {1, 3}) {
    CAPTURE(ranks);
    const std::string output = "student-" + std::to_string(ranks);
    place.run("distill votes --weight 0.75 --quiet --output " + output, ranks)
        .ends(0)
        .shows("votes: ensemble of 2")
        .shows("tiny: one synchronous model");
  }
  const std::string student = bytes_of(place / "student-1/model.h5");
  CHECK(bytes_of(place / "student-3/model.h5") == student);
  REQUIRE(place.train("alone").code == 0);
  CHECK(bytes_of(place / "alone/model.h5") != student);

  // Its recipe repeats it, and continues it with the same teacher only.
  CHECK(place.run("train student-1/recipe.toml --quiet --output again").code == 0);
  CHECK(bytes_of(place / "again/model.h5") == student);
  CHECK(place.run("train --resume again --quiet --set train.epochs=4").code == 0);
  const Outcome other = place.run("train --resume again --quiet --set train.distill.temperature=5");
  CHECK(other.code != 0);
  CHECK(other.says("train.distill.temperature: 2.0 in the checkpoint, 5.0 now"));

  // Another network.
  place.replace("recipe.toml", "filters = 8", "filters = 2", "small.toml");
  place.run("distill votes small.toml --quiet --output small").ends(0).shows("100 trainable");
}

TEST_CASE("distill refuses a teacher or a recipe that does not fit, with the reason") {
  const Place place;
  write_dataset(place / "named.h5", 150, 8, 4, 60, {"a", "b", "c", "d"});
  write_dataset(place / "swapped.h5", 150, 8, 4, 60, {"b", "a", "c", "d"});
  REQUIRE(place.train("teacher", "--set data.path=named.h5").code == 0);
  const auto refused = [&](const std::string& arguments, const std::string& why) {
    place.refuses("distill " + arguments + " --output out", why);
    CHECK_FALSE(fs::exists(place / "out"));
  };
  refused("nowhere", "nowhere");
  fs::create_directory(place / "bare");
  fs::copy(place / "teacher/model.h5", place / "bare/model.h5");
  refused("bare", "has no recipe.toml");
  refused("teacher --set augment.mixup=0.2", "not for mixtures");
  refused("teacher --set 'train.loss={name=\"mean_squared_error\"}'", "teaches probabilities of softmax");
  write_dataset(place / "ten.h5", 150, 8, 10);
  refused("teacher --set data.path=ten.h5", "has 10 classes");
  refused("teacher --set data.path=swapped.h5", "swapped.h5: class 0 is \"b\", but in the model of");
  place.refuses("evaluate teacher --data swapped.h5", "prepare it again with --class-names a,b,c,d;");
}

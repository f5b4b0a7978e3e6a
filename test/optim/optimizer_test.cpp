#include "convoke/optim/optimizer.hpp"

#include "convoke/core/random.hpp"
#include "optim/training.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::optim;

namespace {

const std::vector<Settings> kSeveral{
    {{"name", "sgd"}},
    {{"name", "sgd"}, {"momentum", 0.9}},
    {{"name", "sgd"}, {"momentum", 0.9}, {"nesterov", true}},
    {{"name", "adam"}},
    {{"name", "adam"}, {"beta_1", 0.8}, {"beta_2", 0.95}, {"epsilon", 1e-3}},
    {{"name", "rmsprop"}},
    {{"name", "rmsprop"}, {"rho", 0.7}, {"momentum", 0.5}, {"epsilon", 1e-4}},
    {{"name", "adamw"}},
    {{"name", "adamw"}, {"beta_1", 0.8}, {"weight_decay", 0.1}, {"exclude_vectors", true}},
    {{"name", "nadam"}},
    {{"name", "nadam"}, {"beta_1", 0.8}, {"beta_2", 0.95}, {"epsilon", 1e-3}},
    {{"name", "adagrad"}},
    {{"name", "adagrad"}, {"initial_accumulator_value", 0.0}, {"epsilon", 1e-3}},
};

const std::vector<Settings> kOfWholeParameters{
    {{"name", "lars"}},
    {{"name", "lars"},
     {"momentum", 0.5},
     {"weight_decay", 0.01},
     {"trust_coefficient", 0.1},
     {"epsilon", 1e-3},
     {"exclude_vectors", false}},
    {{"name", "lamb"}},
    {{"name", "lamb"}, {"beta_1", 0.8}, {"weight_decay", 0.1}, {"exclude_vectors", false}},
};

std::vector<float> random_floats(std::size_t n, std::uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = Purpose::kBench});
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

std::string refused_optimizer(const Settings& settings) {
  return refusal_of([&] { make_optimizer(settings); });
}

}  // namespace

TEST_CASE("updating a slice in one call equals updating it in parts, bit for bit") {
  constexpr std::size_t kSize = 257;
  for (const Settings& settings : kSeveral) {
    const auto optimizer = make_optimizer(settings);
    for (const std::vector<std::size_t>& cuts :
         std::vector<std::vector<std::size_t>>{{1, kSize},
                                               {3, kSize},
                                               {77, kSize},
                                               {129, kSize},
                                               {256, kSize},
                                               {5, 6, 40, 41, 41, 250, kSize}}) {
      Training whole(*optimizer, random_floats(kSize, 1));
      Training parts(*optimizer, random_floats(kSize, 1));
      for (std::uint64_t t = 0; t < 5; ++t) {
        const std::vector<float> gradients = random_floats(kSize, 100 + t);
        whole.step(gradients, 0.03);
        parts.step(gradients, 0.03, cuts);
      }
      INFO(Value(settings).to_string() << " cut at " << cuts.front());
      CHECK(whole.weights() == parts.weights());
      CHECK(whole.states() == parts.states());
      CHECK(whole.weights() != random_floats(kSize, 1));
    }
  }
}

TEST_CASE("padding of a whole parameter changes no bit and stays zero") {
  constexpr std::size_t kSize = 2500;  // more than one piece
  for (const bool whole : {false, true}) {
    for (const Settings& settings : whole ? kOfWholeParameters : kSeveral) {
      const auto optimizer = make_optimizer(settings);
      CHECK((optimizer->scope() == Scope::kWholeParameter) == whole);
      std::vector<float> weights = random_floats(kSize, 1);
      Training plain(*optimizer, weights);
      weights.resize(kSize + 44);
      Training padded(*optimizer, weights);
      for (std::uint64_t t = 0; t < 5; ++t) {
        std::vector<float> gradients = random_floats(kSize, 100 + t);
        plain.step(gradients, 0.03);
        gradients.resize(kSize + 44);
        padded.step(gradients, 0.03);
      }
      std::vector<float> expected = plain.weights();
      expected.resize(kSize + 44);
      INFO(Value(settings).to_string());
      CHECK(padded.weights() == expected);
    }
  }
}

TEST_CASE("the settings of an optimizer make an equal optimizer") {
  std::vector<Settings> all = kSeveral;
  all.insert(all.end(), kOfWholeParameters.begin(), kOfWholeParameters.end());
  for (const Settings& settings : all) {
    const auto original = make_optimizer(settings);
    const auto copy = make_optimizer(original->settings());
    INFO(Value(settings).to_string());
    for (const auto& [key, value] : settings.entries()) CHECK(*original->settings().find(key) == value);
    CHECK(copy->settings() == original->settings());
    CHECK(copy->name() == original->name());
    CHECK(copy->state_slots() == original->state_slots());
    CHECK(fifty_steps(*copy) == fifty_steps(*original));
  }
}

TEST_CASE("the defaults of optimizers are Keras'") {
  CHECK(make_optimizer({{"name", "sgd"}})->settings() ==
        Settings{{"name", "sgd"}, {"momentum", 0.0}, {"nesterov", false}});
  CHECK(make_optimizer({{"name", "adam"}})->settings() ==
        Settings{{"name", "adam"}, {"beta_1", 0.9}, {"beta_2", 0.999}, {"epsilon", 1e-7}});
  CHECK(make_optimizer({{"name", "rmsprop"}})->settings() ==
        Settings{{"name", "rmsprop"}, {"rho", 0.9}, {"momentum", 0.0}, {"epsilon", 1e-7}});
  CHECK(make_optimizer({{"name", "adamw"}})->settings() == Settings{{"name", "adamw"},
                                                                    {"beta_1", 0.9},
                                                                    {"beta_2", 0.999},
                                                                    {"epsilon", 1e-7},
                                                                    {"weight_decay", 0.004},
                                                                    {"exclude_vectors", false}});
  CHECK(make_optimizer({{"name", "nadam"}})->settings() ==
        Settings{{"name", "nadam"}, {"beta_1", 0.9}, {"beta_2", 0.999}, {"epsilon", 1e-7}});
  CHECK(make_optimizer({{"name", "adagrad"}})->settings() ==
        Settings{{"name", "adagrad"}, {"initial_accumulator_value", 0.1}, {"epsilon", 1e-7}});
  CHECK(optimizer_names() ==
        std::vector<std::string>{"sgd", "adam", "rmsprop", "adamw", "nadam", "adagrad", "lars", "lamb"});
}

TEST_CASE("the defaults of lars and lamb are those of their papers") {
  CHECK(make_optimizer({{"name", "lars"}})->settings() == Settings{{"name", "lars"},
                                                                   {"momentum", 0.9},
                                                                   {"weight_decay", 1e-4},
                                                                   {"trust_coefficient", 0.001},
                                                                   {"epsilon", 1e-8},
                                                                   {"exclude_vectors", true}});
  CHECK(make_optimizer({{"name", "lamb"}})->settings() == Settings{{"name", "lamb"},
                                                                   {"beta_1", 0.9},
                                                                   {"beta_2", 0.999},
                                                                   {"epsilon", 1e-7},
                                                                   {"weight_decay", 0.01},
                                                                   {"exclude_vectors", true}});
}

TEST_CASE("an optimizer ignores learning_rate, which the schedule uses") {
  CHECK(make_optimizer({{"name", "adam"}, {"learning_rate", 0.1}})->settings() ==
        make_optimizer({{"name", "adam"}})->settings());
}

TEST_CASE("wrong optimizer settings are refused") {
  Settings unknown{{"name", "adamm"}};
  unknown.set_where("recipe.toml:14");
  CHECK(refused_optimizer(unknown) ==
        "recipe.toml:14: unknown optimizer \"adamm\" (did you mean \"adam\"?) | known: adagrad, adam, adamw, "
        "lamb, lars, nadam, rmsprop, sgd");
  CHECK(*make_optimizer({})->settings().find("name") == Value("adam"));
  CHECK(refused_optimizer({{"name", "adam"}, {"beta1", 0.9}}) ==
        "optimizer \"adam\": unknown key \"beta1\" (did you mean \"beta_1\"?) | known keys: name, "
        "learning_rate, beta_1, beta_2, epsilon");
  CHECK(refused_optimizer({{"name", "sgd"}, {"momentum", 1}}) ==
        "optimizer \"sgd\": \"momentum\" must be at least 0 and below 1, but is 1 | momentum: decay of the "
        "velocity");
  CHECK(refused_optimizer({{"name", "sgd"}, {"nesterov", true}}) ==
        "optimizer \"sgd\": \"nesterov\" must be false if momentum is 0, but is true | ");
  for (const Settings& settings :
       std::vector<Settings>{{{"name", "adam"}, {"beta_1", 1.0}},
                             {{"name", "adam"}, {"beta_2", -0.1}},
                             {{"name", "adam"}, {"epsilon", 0}},
                             {{"name", "adam"}, {"epsilon", std::nan("")}},
                             {{"name", "adam"}, {"learning_rate", -1}},
                             {{"name", "rmsprop"}, {"rho", 1.5}},
                             {{"name", "rmsprop"}, {"momentum", -1}},
                             {{"name", "rmsprop"}, {"epsilon", -1e-7}},
                             {{"name", "adamw"}, {"weight_decay", -0.1}},
                             {{"name", "adamw"}, {"beta_2", 1.0}},
                             {{"name", "nadam"}, {"epsilon", 0}},
                             {{"name", "adagrad"}, {"initial_accumulator_value", -1}},
                             {{"name", "adagrad"}, {"epsilon", 0}},
                             {{"name", "lars"}, {"momentum", 1}},
                             {{"name", "lars"}, {"trust_coefficient", 0}},
                             {{"name", "lars"}, {"weight_decay", HUGE_VAL}},
                             {{"name", "lars"}, {"epsilon", -1}},
                             {{"name", "lamb"}, {"weight_decay", -1}},
                             {{"name", "lamb"}, {"beta_1", 1.5}}}) {
    const auto& [key, value] = settings.entries().back();
    const std::string message = refused_optimizer(settings);
    INFO(message);
    CHECK_THAT(message, Contains("\"" + key + "\" must be"));
    CHECK_THAT(message, Contains("but is " + value.to_string() + " | "));
  }
}

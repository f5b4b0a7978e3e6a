#include "convoke/optim/schedule.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::optim;

namespace {

// Returns the factors at some steps of a run with 10 steps per epoch.
std::vector<double> factors(const Settings& settings, std::int64_t total,
                            const std::vector<std::int64_t>& steps) {
  const auto schedule = make_schedule(settings);
  std::vector<double> out;
  for (const std::int64_t step : steps) out.push_back(schedule->factor(step, 10, total));
  return out;
}

void check_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) CHECK(actual[i] == Approx(expected[i]).margin(1e-7));
}

std::string refused_schedule(const Settings& settings) {
  return refusal_of([&] { make_schedule(settings); });
}

}  // namespace

TEST_CASE("a constant schedule has factor one, and an empty table means a constant schedule") {
  check_near(factors({}, 50, {0, 1, 49}), {1, 1, 1});
  CHECK(make_schedule({})->settings() == Settings{{"name", "constant"}});
}

TEST_CASE("a step schedule drops at regular intervals") {
  check_near(factors({{"name", "step"}, {"drop", 0.5}, {"every_epochs", 2}}, 100, {0, 19, 20, 39, 40, 99}),
             {1, 1, 0.5, 0.5, 0.25, 0.0625});
  check_near(factors({{"name", "step"}, {"every_epochs", 1}}, 100, {9, 10, 20}), {1, 0.1, 0.01});
}

TEST_CASE("an exponential schedule equals Keras'") {
  // keras.optimizers.schedules.ExponentialDecay(1.0, 20, 0.5)
  check_near(factors({{"name", "exponential"}, {"rate", 0.5}, {"epochs", 2}}, 100, {0, 1, 7, 15, 29, 30}),
             {1.0, 0.965936303, 0.784584105, 0.594603539, 0.366021425, 0.353553385});
}

TEST_CASE("a cosine schedule equals Keras'") {
  // keras.optimizers.schedules.CosineDecay(1.0, 30, alpha=0.1)
  check_near(factors({{"name", "cosine"}, {"floor", 0.1}}, 30, {0, 1, 7, 15, 29, 30, 31}),
             {1.0, 0.997534811, 0.88441515, 0.549999952, 0.102465138, 0.1, 0.1});
  check_near(factors({{"name", "cosine"}}, 30, {0, 15, 30}), {1, 0.5, 0});
}

TEST_CASE("a piecewise schedule has a factor from each boundary on") {
  const Settings settings{
      {"name", "piecewise"}, {"epochs", Value::Array{2, 5}}, {"factors", Value::Array{0.5, 0.1}}};
  // keras.optimizers.schedules.PiecewiseConstantDecay([19, 49], [1.0, 0.5, 0.1])
  check_near(factors(settings, 100, {0, 19, 20, 49, 50, 99}), {1, 1, 0.5, 0.5, 0.1, 0.1});
  // torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 5], 0.1), epoch by epoch
  check_near(
      factors({{"name", "piecewise"}, {"epochs", Value::Array{2, 5}}, {"factors", Value::Array{0.1, 0.01}}},
              100, {0, 10, 20, 30, 40, 50, 60, 70}),
      {1, 1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01});
  check_near(factors({{"name", "piecewise"}, {"epochs", 0.25}, {"factors", 2}}, 100, {2, 3}), {1, 2});
  // In floating point, 0.14 * 50 is above 7.
  const auto early = make_schedule({{"name", "piecewise"}, {"epochs", 0.14}, {"factors", 2}});
  CHECK(early->factor(6, 50, 100) == 1);
  CHECK(early->factor(7, 50, 100) == 2);
  CHECK(make_schedule({{"warmup_epochs", 0.14}})->factor(6, 50, 100) == 1);
}

TEST_CASE("a polynomial schedule equals Keras'") {
  // keras.optimizers.schedules.PolynomialDecay(1.0, 30, end_learning_rate=0.1, power=2.0), and
  // PolynomialDecay(1.0, 30, end_learning_rate=0.0)
  check_near(factors({{"name", "polynomial"}, {"power", 2}, {"floor", 0.1}}, 30, {0, 1, 7, 15, 29, 30, 31}),
             {1, 0.940999925, 0.628999949, 0.324999988, 0.101000004, 0.1, 0.1});
  check_near(factors({{"name", "polynomial"}}, 30, {0, 1, 7, 15, 29, 30, 31}),
             {1, 0.966666639, 0.766666651, 0.5, 0.0333333611, 0, 0});
}

TEST_CASE("a one-cycle schedule equals PyTorch's") {
  // torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=30, cycle_momentum=False), and
  // OneCycleLR(optimizer, max_lr=1.0, total_steps=40, cycle_momentum=False, pct_start=0.25, div_factor=10,
  //            final_div_factor=100)
  check_near(factors({{"name", "one_cycle"}}, 30, {0, 1, 4, 8, 9, 20, 28, 29}),
             {0.04, 0.0765378244, 0.52, 1, 0.994415435, 0.388741978, 0.00558856455, 4e-06});
  check_near(
      factors({{"name", "one_cycle"}, {"pct_start", 0.25}, {"div_factor", 10}, {"final_div_factor", 100}}, 40,
              {0, 3, 9, 10, 25, 38, 39}),
      {0.1, 0.325, 1, 0.997263687, 0.448288033, 0.00373631326, 0.001});
  // Without steps for a rise or a fall, and after the end.
  check_near(factors({{"name", "one_cycle"}, {"pct_start", 0.1}}, 10, {0, 9, 10}), {1, 4e-6, 4e-6});
  check_near(factors({{"name", "one_cycle"}, {"pct_start", 1}}, 10, {0, 9}), {0.04, 1});
  for (const double part : {0.0, 0.3, 1.0}) {
    for (const double rate : factors({{"name", "one_cycle"}, {"pct_start", part}}, 1, {0, 1}))
      CHECK(std::isfinite(rate));
  }
}

namespace {

// Returns the rate after each epoch, from a base rate of 0.5.
std::vector<double> rates(const Settings& settings, const std::vector<double>& losses) {
  const auto schedule = make_schedule(settings);
  Feedback feedback;
  std::vector<double> out;
  for (const double loss : losses) {
    schedule->epoch_done(
        {.epochs_done = static_cast<std::int64_t>(out.size()) + 1, .validation_loss = loss, .base_rate = 0.5},
        feedback);
    out.push_back(0.5 * feedback.factor);
  }
  return out;
}

}  // namespace

TEST_CASE("a plateau schedule reduces the rate when Keras' does") {
  // callback = keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=2, min_delta=1e-3, cooldown=0,
  // min_lr=0) for epoch, loss in enumerate(losses): callback.on_epoch_end(epoch, {"val_loss": loss})
  const std::vector<double> losses{1.0,  0.9, 0.95, 0.9,  0.8995, 0.89, 0.895, 0.9,  0.91, 0.92, 0.93,
                                   0.94, 0.5, 0.51, 0.52, 0.53,   0.54, 0.55,  0.56, 0.57, 0.58, 0.59};
  check_near(rates({{"name", "plateau"}, {"factor", 0.5}, {"patience", 2}, {"min_delta", 1e-3}}, losses),
             {0.5,       0.5,       0.5,        0.25,       0.25,        0.25,       0.25,     0.125,
              0.125,     0.0625,    0.0625,     0.03125,    0.03125,     0.03125,    0.015625, 0.015625,
              0.0078125, 0.0078125, 0.00390625, 0.00390625, 0.001953125, 0.001953125});
  // Keras counts the last epoch of a cooldown.
  Settings cooled{{"name", "plateau"}, {"patience", 2}, {"cooldown", 1}};
  const std::vector<double> with = rates(cooled, losses);
  cooled.set("cooldown", 0);
  CHECK(with == rates(cooled, losses));
  // the first with cooldown=2, min_lr=0.1
  check_near(rates({{"name", "plateau"},
                    {"factor", 0.5},
                    {"patience", 2},
                    {"min_delta", 1e-3},
                    {"cooldown", 2},
                    {"min_learning_rate", 0.1}},
                   losses),
             {0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125, 0.1,
              0.1, 0.1, 0.1, 0.1,  0.1,  0.1,  0.1,  0.1,   0.1,   0.1,   0.1});
  // ReduceLROnPlateau(factor=0.1, patience=3)
  check_near(rates({{"name", "plateau"}, {"patience", 3}}, losses),
             {0.5,   0.5,   0.5,   0.5,   0.5,    0.5,    0.5,    0.5,   0.05,  0.05,  0.05,
              0.005, 0.005, 0.005, 0.005, 0.0005, 0.0005, 0.0005, 5e-05, 5e-05, 5e-05, 5e-06});
}

TEST_CASE("a plateau schedule never takes a loss that is not finite as the best") {
  const auto schedule = make_schedule({{"name", "plateau"}, {"factor", 0.5}, {"patience", 2}});
  Feedback feedback;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double loss : {infinity, 1.0, std::nan(""), -infinity}) {
    schedule->epoch_done({.validation_loss = loss, .base_rate = 0.1}, feedback);
  }
  CHECK(feedback.best == 1);
  CHECK(feedback.factor == 0.5);
}

TEST_CASE("a plateau schedule needs validation, and starts after the warm-up") {
  const Settings settings{{"name", "plateau"}, {"patience", 1}};
  Settings warm = settings;
  warm.set("warmup_epochs", 1.5);
  CHECK(make_schedule(settings)->needs_validation());
  CHECK(make_schedule(warm)->needs_validation());
  CHECK_FALSE(make_schedule({})->needs_validation());
  check_near(rates(settings, {1, 2, 3, 4}), {0.5, 0.05, 0.005, 0.0005});
  check_near(rates(warm, {1, 2, 3, 4}), {0.5, 0.5, 0.05, 0.005});  // 2 is the first loss that counts
}

TEST_CASE("every schedule can have a warm-up, and starts after it") {
  for (Settings settings : std::vector<Settings>{{{"name", "constant"}},
                                                 {{"name", "step"}, {"every_epochs", 1}},
                                                 {{"name", "exponential"}, {"rate", 0.9}},
                                                 {{"name", "cosine"}, {"floor", 0.2}},
                                                 {{"name", "piecewise"}, {"epochs", 2}, {"factors", 0.5}},
                                                 {{"name", "polynomial"}, {"power", 0.5}},
                                                 {{"name", "one_cycle"}},
                                                 {{"name", "plateau"}}}) {
    const auto cold = make_schedule(settings);
    settings.set("warmup_epochs", 2);
    check_near(factors(settings, 70, {0, 1, 9, 18, 19}), {0.05, 0.1, 0.5, 0.95, 1});
    const auto warm = make_schedule(settings);
    for (const std::int64_t step : {0, 1, 10, 25, 49}) {
      CHECK(warm->factor(20 + step, 10, 70) == cold->factor(step, 10, 50));
    }
  }
  // 0.25 epochs of 10 steps are rounded to three steps. If the warm-up is longer than the run, the rate only
  // rises.
  check_near(factors({{"warmup_epochs", 0.25}}, 100, {0, 1, 2, 3}), {1.0 / 3, 2.0 / 3, 1, 1});
  check_near(factors({{"name", "cosine"}, {"warmup_epochs", 10}}, 50, {0, 49}), {0.01, 0.5});
}

TEST_CASE("the settings of a schedule make an equal schedule") {
  for (const Settings& settings : std::vector<Settings>{
           {{"name", "constant"}},
           {{"name", "constant"}, {"warmup_epochs", 1.5}},
           {{"name", "step"}, {"drop", 0.3}, {"every_epochs", 4}},
           {{"name", "exponential"}, {"rate", 0.9}, {"epochs", 2.5}, {"warmup_epochs", 3.0}},
           {{"name", "cosine"}, {"floor", 0.05}, {"warmup_epochs", 0.5}},
           {{"name", "piecewise"}, {"epochs", Value::Array{2.5, 4.0}}, {"factors", Value::Array{0.5, 2.0}}},
           {{"name", "polynomial"}, {"power", 2.0}, {"floor", 0.1}, {"warmup_epochs", 1.0}},
           {{"name", "one_cycle"}, {"pct_start", 0.2}, {"div_factor", 10.0}, {"final_div_factor", 100.0}},
           {{"name", "plateau"},
            {"factor", 0.5},
            {"patience", 3},
            {"min_delta", 0.01},
            {"cooldown", 1},
            {"min_learning_rate", 1e-5}},
       }) {
    CHECK(make_schedule(settings)->settings() == settings);
  }
}

TEST_CASE("wrong schedule settings are refused") {
  CHECK(refused_schedule({{"name", "cosin"}}) ==
        "unknown schedule \"cosin\" (did you mean \"cosine\"?) | known: constant, cosine, exponential, "
        "one_cycle, piecewise, plateau, polynomial, step");
  CHECK(refused_schedule({{"name", "step"}}) ==
        "schedule \"step\": \"every_epochs\" is missing | every_epochs: epochs between two drops");
  CHECK(refused_schedule({{"name", "exponential"}}) ==
        "schedule \"exponential\": \"rate\" is missing | rate: factor over every `epochs` epochs, for "
        "example 0.95; the decay is smooth");
  CHECK(refused_schedule({{"name", "constant"}, {"floor", 0.1}}) ==
        "schedule \"constant\": unknown key \"floor\" | known keys: name, warmup_epochs");
  CHECK(refused_schedule({{"warmup_epochs", -1}}) ==
        "schedule \"constant\": \"warmup_epochs\" must be at least 0 and at most 1000000, but is -1 | "
        "warmup_epochs: epochs in which the rate rises linearly from 0, before the schedule");
  CHECK(refused_schedule({{"name", "step"}, {"every_epochs", 0}}) ==
        "schedule \"step\": \"every_epochs\" must be at least 1, but is 0 | every_epochs: epochs between two "
        "drops");
  CHECK(refused_schedule({{"name", "piecewise"}, {"epochs", 2}}) ==
        "schedule \"piecewise\": \"factors\" is missing | factors: factor from each of these epochs on, for "
        "example `[0.1, 0.01]`");
  CHECK(refused_schedule({{"name", "piecewise"}, {"epochs", Value::Array{2, 4}}, {"factors", 0.1}}) ==
        "schedule \"piecewise\": \"factors\" must be as many numbers as \"epochs\", but is 0.1 | ");
  CHECK(refused_schedule(
            {{"name", "piecewise"}, {"factors", Value::Array{0.1, 0.1}}, {"epochs", Value::Array{4, 4}}}) ==
        "schedule \"piecewise\": \"epochs\" must be rising numbers above 0, but is [4, 4] | ");
  CHECK(
      refused_schedule({{"name", "piecewise"}, {"factors", 0.1}, {"epochs", Value::Array{4, "x"}}}) ==
      "schedule \"piecewise\": \"epochs\" must be a number or a list of them, but is a list ([4, \"x\"]) | ");
  for (const Settings& settings :
       std::vector<Settings>{{{"name", "step"}, {"every_epochs", 1}, {"drop", 0}},
                             {{"name", "piecewise"}, {"factors", 0.1}, {"epochs", 0}},
                             {{"name", "piecewise"}, {"epochs", 1}, {"factors", -0.1}},
                             {{"name", "polynomial"}, {"power", 0}},
                             {{"name", "polynomial"}, {"floor", 1.5}},
                             {{"name", "plateau"}, {"factor", 1}},
                             {{"name", "plateau"}, {"patience", 0}},
                             {{"name", "plateau"}, {"min_delta", -1}},
                             {{"name", "plateau"}, {"cooldown", -1}},
                             {{"name", "plateau"}, {"min_learning_rate", HUGE_VAL}},
                             {{"name", "one_cycle"}, {"pct_start", 1.5}},
                             {{"name", "one_cycle"}, {"div_factor", 0.5}},
                             {{"name", "one_cycle"}, {"final_div_factor", HUGE_VAL}},
                             {{"name", "exponential"}, {"rate", 1.5}},
                             {{"name", "exponential"}, {"rate", 0.5}, {"epochs", 0}},
                             {{"name", "cosine"}, {"floor", -0.1}},
                             {{"warmup_epochs", std::nan("")}},
                             {{"warmup_epochs", HUGE_VAL}}}) {
    const auto& [key, value] = settings.entries().back();
    const std::string message = refused_schedule(settings);
    INFO(message);
    CHECK_THAT(message, Contains("\"" + key + "\" must be"));
    CHECK_THAT(message, Contains("but is " + value.to_string() + " | "));
  }
}

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "optim/schedules.hpp"

// Schedules whose factor depends on the step alone.

namespace convoke::optim {
namespace {

/// The base rate in all steps.
class ConstantSchedule final : public Schedule {
 public:
  double factor(std::int64_t, std::int64_t, std::int64_t) const override { return 1; }
  Settings settings() const override { return {{"name", "constant"}}; }
};

struct StepOptions {
  double drop = 0.1;              ///< factor of each drop, (0, 1]
  std::int64_t every_epochs = 0;  ///< > 0; no default in recipes
};

constexpr std::array kStepScheduleKeys{
    key<&StepOptions::drop>(
        {.name = "drop", .range = {.above = 0, .largest = 1}, .help = "factor of each drop"}),
    key<&StepOptions::every_epochs>({.name = "every_epochs",
                                     .range = {.least = 1},
                                     .required = true,
                                     .help = "epochs between two drops"}),
};

/// The base rate times drop^k after k * every_epochs epochs.
class StepSchedule final : public KeyedSchedule<StepOptions, kStepScheduleKeys> {
 public:
  using KeyedSchedule::KeyedSchedule;
  //   drop ^ floor(epoch / every_epochs)
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t) const override {
    const std::int64_t drops = step / per_epoch / options_.every_epochs;
    return std::pow(options_.drop, static_cast<double>(drops));
  }
};

std::unique_ptr<Schedule> read_step(SettingsReader& settings) {
  StepOptions options;
  read_keys(kStepScheduleKeys, settings, options);
  return std::make_unique<StepSchedule>("step", std::move(options));
}

struct ExponentialOptions {
  double rate = 1;    ///< factor on the learning rate over `epochs` epochs, (0, 1]; no default in recipes
  double epochs = 1;  ///< > 0
};

constexpr std::array kExponentialScheduleKeys{
    key<&ExponentialOptions::rate>(
        {.name = "rate",
         .range = {.above = 0, .largest = 1},
         .required = true,
         .help = "factor over every `epochs` epochs, for example 0.95; the decay is smooth"}),
    key<&ExponentialOptions::epochs>(
        {.name = "epochs", .range = {.above = 0}, .help = "number of epochs over which `rate` applies"}),
};

/// Smooth exponential decay: Keras' ExponentialDecay with staircase=False.
class ExponentialSchedule final : public KeyedSchedule<ExponentialOptions, kExponentialScheduleKeys> {
 public:
  using KeyedSchedule::KeyedSchedule;
  //   rate ^ (step / (per_epoch epochs))
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t) const override {
    const double epoch = static_cast<double>(step) / static_cast<double>(per_epoch);
    return std::pow(options_.rate, epoch / options_.epochs);
  }
};

std::unique_ptr<Schedule> read_exponential(SettingsReader& settings) {
  ExponentialOptions options;
  read_keys(kExponentialScheduleKeys, settings, options);
  return std::make_unique<ExponentialSchedule>("exponential", std::move(options));
}

struct CosineOptions {
  double floor = 0;  ///< share of the rate at the end, [0, 1]
};

constexpr std::array kCosineScheduleKeys{
    key<&CosineOptions::floor>(
        {.name = "floor", .range = {.least = 0, .largest = 1}, .help = "share of the rate at the end"}),
};

/// Half a cosine from the base rate to its floor over all steps (Loshchilov and Hutter, "SGDR", ICLR 2017,
/// without restarts). Equal to Keras' CosineDecay with alpha = floor.
class CosineSchedule final : public KeyedSchedule<CosineOptions, kCosineScheduleKeys> {
 public:
  using KeyedSchedule::KeyedSchedule;
  //   floor + (1 - floor) (1 + cos(pi step / total)) / 2
  double factor(std::int64_t step, std::int64_t, std::int64_t total) const override {
    if (step >= total) return options_.floor;
    const double done = static_cast<double>(step) / static_cast<double>(total);
    return options_.floor + (1 - options_.floor) * (1 + std::cos(std::numbers::pi * done)) / 2;
  }
  bool spans_training() const override { return true; }
};

std::unique_ptr<Schedule> read_cosine(SettingsReader& settings) {
  CosineOptions options;
  read_keys(kCosineScheduleKeys, settings, options);
  return std::make_unique<CosineSchedule>("cosine", std::move(options));
}

struct PiecewiseOptions {
  std::vector<double> epochs;   ///< boundaries, rising, > 0, not necessarily whole numbers
  std::vector<double> factors;  ///< factor from each boundary on, >= 0; as many as boundaries
};

constexpr std::array kPiecewiseScheduleKeys{
    key<&PiecewiseOptions::epochs>({.name = "epochs",
                                    .range = {.least = 0},
                                    .required = true,
                                    .help = "rising epochs above 0, for example `[30, 60]`"}),
    key<&PiecewiseOptions::factors>(
        {.name = "factors",
         .range = {.least = 0},
         .required = true,
         .help = "factor from each of these epochs on, for example `[0.1, 0.01]`"}),
};

/// The base rate, and from each boundary on the base rate times a factor. PyTorch's MultiStepLR with any
/// factors; Keras' PiecewiseConstantDecay keeps a value for one step longer.
class PiecewiseSchedule final : public KeyedSchedule<PiecewiseOptions, kPiecewiseScheduleKeys> {
 public:
  using KeyedSchedule::KeyedSchedule;
  //   factors[k] for the last k with epochs[k] <= step / per_epoch, 1 before the first
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t) const override {
    double factor = 1;
    for (std::size_t k = 0; k < options_.epochs.size(); ++k) {
      const double begin = std::ceil(options_.epochs[k] * static_cast<double>(per_epoch));
      if (static_cast<double>(step) >= begin) factor = options_.factors[k];
    }
    return factor;
  }
};

std::unique_ptr<Schedule> read_piecewise(SettingsReader& settings) {
  PiecewiseOptions options;
  read_keys(kPiecewiseScheduleKeys, settings, options);
  const bool rising = std::adjacent_find(options.epochs.begin(), options.epochs.end(),
                                         std::greater_equal<>()) == options.epochs.end();
  settings.check("epochs", rising && !options.epochs.empty() && options.epochs.front() > 0,
                 "rising numbers above 0");
  settings.check("factors", options.factors.size() == options.epochs.size(), "as many numbers as \"epochs\"");
  return std::make_unique<PiecewiseSchedule>("piecewise", std::move(options));
}

struct PolynomialOptions {
  double power = 1;  ///< > 0; 1: a straight line
  double floor = 0;  ///< share of the rate at the end, [0, 1]
};

constexpr std::array kPolynomialScheduleKeys{
    key<&PolynomialOptions::power>({.name = "power", .range = {.above = 0}, .help = "1: a straight line"}),
    key<&PolynomialOptions::floor>(
        {.name = "floor", .range = {.least = 0, .largest = 1}, .help = "share of the rate at the end"}),
};

/// A power of the remaining share of the training, from the base rate to its floor. Equal to Keras'
/// PolynomialDecay without cycles.
class PolynomialSchedule final : public KeyedSchedule<PolynomialOptions, kPolynomialScheduleKeys> {
 public:
  using KeyedSchedule::KeyedSchedule;
  //   floor + (1 - floor) (1 - step / total) ^ power
  double factor(std::int64_t step, std::int64_t, std::int64_t total) const override {
    if (step >= total) return options_.floor;
    const double left = 1 - static_cast<double>(step) / static_cast<double>(total);
    return options_.floor + (1 - options_.floor) * std::pow(left, options_.power);
  }
  bool spans_training() const override { return true; }
};

std::unique_ptr<Schedule> read_polynomial(SettingsReader& settings) {
  PolynomialOptions options;
  read_keys(kPolynomialScheduleKeys, settings, options);
  return std::make_unique<PolynomialSchedule>("polynomial", std::move(options));
}

/// Names and defaults are PyTorch's.
struct OneCycleOptions {
  double pct_start = 0.3;         ///< share of all steps in which the rate rises, [0, 1]
  double div_factor = 25;         ///< the rate starts at the base rate / div_factor, >= 1
  double final_div_factor = 1e4;  ///< the rate ends at its start / final_div_factor, >= 1
};

constexpr std::array kOneCycleScheduleKeys{
    key<&OneCycleOptions::pct_start>({.name = "pct_start",
                                      .range = {.least = 0, .largest = 1},
                                      .help = "share of all steps in which the rate rises"}),
    key<&OneCycleOptions::div_factor>(
        {.name = "div_factor", .range = {.least = 1}, .help = "the rate starts at the base rate / this"}),
    key<&OneCycleOptions::final_div_factor>(
        {.name = "final_div_factor", .range = {.least = 1}, .help = "the rate ends at its start / this"}),
};

//   b + (a - b) (1 + cos(pi x)) / 2: from a to b while x goes from 0 to 1
double anneal(double a, double b, double x) { return b + (a - b) / 2 * (1 + std::cos(std::numbers::pi * x)); }

/// A rise to the base rate and a fall to almost zero, each half a cosine (Smith and Topin,
/// "Super-convergence", 2018). Equal to PyTorch's OneCycleLR with anneal_strategy="cos", max_lr = the base
/// rate, and cycle_momentum=False: the momentum does not change.
class OneCycleSchedule final : public KeyedSchedule<OneCycleOptions, kOneCycleScheduleKeys> {
 public:
  using KeyedSchedule::KeyedSchedule;
  // The peak is at step pct_start * total - 1, the end at the last step.
  double factor(std::int64_t step, std::int64_t, std::int64_t total) const override {
    const double first = 1 / options_.div_factor;
    const double last = first / options_.final_div_factor;
    const double end = static_cast<double>(total - 1);
    const double top = options_.pct_start * static_cast<double>(total) - 1;
    const double now = std::min(static_cast<double>(step), end);
    if (now <= top) return top > 0 ? anneal(first, 1, now / top) : 1;
    return anneal(1, last, (now - top) / (end - top));
  }
  bool spans_training() const override { return true; }
};

std::unique_ptr<Schedule> read_one_cycle(SettingsReader& settings) {
  OneCycleOptions options;
  read_keys(kOneCycleScheduleKeys, settings, options);
  return std::make_unique<OneCycleSchedule>("one_cycle", std::move(options));
}

}  // namespace

ScheduleEntry constant_schedule() {
  return {"constant",
          [](SettingsReader&) -> std::unique_ptr<Schedule> { return std::make_unique<ConstantSchedule>(); },
          [] { return std::vector<KeyDescription>{}; }};
}

ScheduleEntry step_schedule() {
  return {"step", read_step, [] { return describe_keys(kStepScheduleKeys); }};
}

ScheduleEntry exponential_schedule() {
  return {"exponential", read_exponential, [] { return describe_keys(kExponentialScheduleKeys); }};
}

ScheduleEntry cosine_schedule() {
  return {"cosine", read_cosine, [] { return describe_keys(kCosineScheduleKeys); }};
}

ScheduleEntry piecewise_schedule() {
  return {"piecewise", read_piecewise, [] { return describe_keys(kPiecewiseScheduleKeys); }};
}

ScheduleEntry polynomial_schedule() {
  return {"polynomial", read_polynomial, [] { return describe_keys(kPolynomialScheduleKeys); }};
}

ScheduleEntry one_cycle_schedule() {
  return {"one_cycle", read_one_cycle, [] { return describe_keys(kOneCycleScheduleKeys); }};
}

}  // namespace convoke::optim

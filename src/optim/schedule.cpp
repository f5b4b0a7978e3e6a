#include "convoke/optim/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "convoke/core/table.hpp"

namespace convoke::optim {
namespace {

/// A schedule whose options are keys.
template <class Options, const auto& kKeys>
class KeyedSchedule : public Schedule {
 public:
  KeyedSchedule(std::string_view name, SettingsReader& settings) : name_(name) {
    read_keys(kKeys, settings, options_);
  }
  static std::vector<KeyDescription> keys() { return describe_keys(kKeys); }
  Settings settings() const final {
    Settings settings{{"name", name_}};
    write_keys(kKeys, options_, settings);
    return settings;
  }

 protected:
  Options options_;

 private:
  std::string_view name_;
};

// Returns the number of the first step at or after `epochs` epochs, a whole number. The product may be
// rounded up: in floating point, 0.14 * 50 is above 7.
double first_step_at(double epochs, std::int64_t per_epoch) {
  return std::ceil(epochs * static_cast<double>(per_epoch) * (1 - 1e-12));
}

struct NoOptions {};
constexpr std::array<Key<NoOptions>, 0> kNoScheduleKeys{};

/// The base rate in all steps.
class ConstantSchedule final : public KeyedSchedule<NoOptions, kNoScheduleKeys> {
 public:
  using KeyedSchedule::KeyedSchedule;
  double factor(std::int64_t, std::int64_t, std::int64_t) const override { return 1; }
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
  PiecewiseSchedule(std::string_view name, SettingsReader& settings) : KeyedSchedule(name, settings) {
    const std::vector<double>& epochs = options_.epochs;
    const bool rising =
        std::adjacent_find(epochs.begin(), epochs.end(), std::greater_equal<>()) == epochs.end();
    settings.check("epochs", rising && !epochs.empty() && epochs.front() > 0, "rising numbers above 0");
    settings.check("factors", options_.factors.size() == epochs.size(), "as many numbers as \"epochs\"");
  }
  //   factors[k] for the last k with epochs[k] <= step / per_epoch, 1 before the first
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t) const override {
    double factor = 1;
    for (std::size_t k = 0; k < options_.epochs.size(); ++k) {
      const double begin = first_step_at(options_.epochs[k], per_epoch);
      if (static_cast<double>(step) >= begin) factor = options_.factors[k];
    }
    return factor;
  }
};

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

/// Names and defaults are Keras', except that min_lr is written out.
struct PlateauOptions {
  double factor = 0.1;           ///< factor of each reduction, (0, 1)
  std::int64_t patience = 10;    ///< epochs without progress before a reduction, >= 1
  double min_delta = 1e-4;       ///< progress is a fall of the validation loss by more than this, >= 0
  std::int64_t cooldown = 0;     ///< epochs after a reduction; all but the last are not counted, >= 0
  double min_learning_rate = 0;  ///< no reduction goes below it, >= 0
};

constexpr std::array kPlateauScheduleKeys{
    key<&PlateauOptions::factor>(
        {.name = "factor", .range = {.above = 0, .below = 1}, .help = "factor of each reduction"}),
    key<&PlateauOptions::patience>(
        {.name = "patience", .range = {.least = 1}, .help = "epochs without progress before a reduction"}),
    key<&PlateauOptions::min_delta>({.name = "min_delta",
                                     .range = {.least = 0},
                                     .help = "progress is a fall of the validation loss by more than this"}),
    key<&PlateauOptions::cooldown>(
        {.name = "cooldown",
         .range = {.least = 0},
         .help =
             "epochs after a reduction; all but the last are not counted, as in Keras, so 1 is the same as 0"}),
    key<&PlateauOptions::min_learning_rate>(
        {.name = "min_learning_rate", .range = {.least = 0}, .help = "no reduction goes below it"}),
};

/// Reduces the base rate when the validation loss has not fallen for some epochs. Equal to Keras'
/// ReduceLROnPlateau.
class PlateauSchedule final : public KeyedSchedule<PlateauOptions, kPlateauScheduleKeys> {
 public:
  using KeyedSchedule::KeyedSchedule;
  double factor(std::int64_t, std::int64_t, std::int64_t) const override { return 1; }
  bool needs_validation() const override { return true; }
  void epoch_done(const EpochOutcome& outcome, Feedback& feedback) const override {
    if (feedback.cooldown > 0) {
      --feedback.cooldown;
      feedback.wait = 0;
    }
    if (std::isfinite(outcome.validation_loss) &&
        outcome.validation_loss < feedback.best - options_.min_delta) {
      feedback.best = outcome.validation_loss;
      feedback.wait = 0;
      return;
    }
    if (feedback.cooldown > 0 || ++feedback.wait < options_.patience) return;
    const double rate = outcome.base_rate * feedback.factor;
    if (rate <= options_.min_learning_rate) return;
    feedback.factor = std::max(rate * options_.factor, options_.min_learning_rate) / outcome.base_rate;
    feedback.cooldown = options_.cooldown;
    feedback.wait = 0;
  }
};

/// A linear rise to the base rate over the first epochs (Goyal et al., "Accurate, large minibatch SGD",
/// 2017), and then another schedule, which counts its steps from the end of the rise.
class Warmup final : public Schedule {
 public:
  /// `epochs` > 0, not necessarily a whole number.
  Warmup(double epochs, std::unique_ptr<Schedule> then) : epochs_(epochs), then_(std::move(then)) {}

  //   (step + 1) / rise for the first `rise` steps: the rate rises from 0, and no step has rate 0
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t total) const override {
    const auto rise = static_cast<std::int64_t>(first_step_at(epochs_, per_epoch));
    if (step < rise) return static_cast<double>(step + 1) / static_cast<double>(rise);
    return then_->factor(step - rise, per_epoch, total - rise);
  }
  bool needs_validation() const override { return then_->needs_validation(); }
  bool spans_training() const override { return then_->spans_training(); }
  /// The schedule does not count epochs in which the rate rises.
  void epoch_done(const EpochOutcome& outcome, Feedback& feedback) const override {
    if (static_cast<double>(outcome.epochs_done) > epochs_) then_->epoch_done(outcome, feedback);
  }
  Settings settings() const override {
    Settings settings = then_->settings();
    settings.set("warmup_epochs", epochs_);
    return settings;
  }

 private:
  double epochs_;
  std::unique_ptr<Schedule> then_;
};

/// A row of the table of schedules.
struct ScheduleEntry {
  std::string_view name;
  std::unique_ptr<Schedule> (*make)(std::string_view name, SettingsReader& settings);
  std::vector<KeyDescription> (*keys)();
};

template <class T>
std::unique_ptr<Schedule> make_by_name(std::string_view name, SettingsReader& settings) {
  return std::make_unique<T>(name, settings);
}

constexpr std::array kSchedules{
    ScheduleEntry{"constant", make_by_name<ConstantSchedule>, ConstantSchedule::keys},
    ScheduleEntry{"step", make_by_name<StepSchedule>, StepSchedule::keys},
    ScheduleEntry{"exponential", make_by_name<ExponentialSchedule>, ExponentialSchedule::keys},
    ScheduleEntry{"cosine", make_by_name<CosineSchedule>, CosineSchedule::keys},
    ScheduleEntry{"piecewise", make_by_name<PiecewiseSchedule>, PiecewiseSchedule::keys},
    ScheduleEntry{"polynomial", make_by_name<PolynomialSchedule>, PolynomialSchedule::keys},
    ScheduleEntry{"one_cycle", make_by_name<OneCycleSchedule>, OneCycleSchedule::keys},
    ScheduleEntry{"plateau", make_by_name<PlateauSchedule>, PlateauSchedule::keys},
};

/// Options of all schedules.
struct WarmupOptions {
  double epochs = 0;
};
constexpr std::array kWarmupKeys{key<&WarmupOptions::epochs>(
    {.name = "warmup_epochs",
     .range = {.least = 0, .largest = 1e6},
     .help = "epochs in which the rate rises linearly from 0, before the schedule"})};

}  // namespace

std::unique_ptr<Schedule> make_schedule(const Settings& settings) {
  const std::string name = SettingsReader(settings, "schedule").get("name", "constant");
  const ScheduleEntry& entry = find_in(kSchedules, name, "schedule", settings.where());

  SettingsReader read(settings, "schedule \"" + name + "\"");
  read.has("name");
  std::unique_ptr<Schedule> schedule = entry.make(entry.name, read);
  WarmupOptions warmup;
  read_keys(kWarmupKeys, read, warmup);
  read.finish();
  if (warmup.epochs == 0) return schedule;
  return std::make_unique<Warmup>(warmup.epochs, std::move(schedule));
}

std::vector<OptionTable> schedule_tables() {
  std::vector<OptionTable> tables{{"", describe_keys(kWarmupKeys)}};
  for (const ScheduleEntry& entry : kSchedules) tables.push_back({std::string(entry.name), entry.keys()});
  return tables;
}

}  // namespace convoke::optim

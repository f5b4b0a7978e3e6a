#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "optim/schedules.hpp"

// Schedules whose factor depends on the step alone.

namespace convoke::optim {
namespace {

class ConstantSchedule final : public Schedule {
 public:
  explicit ConstantSchedule(SettingsReader&) {}
  double factor(std::int64_t, std::int64_t, std::int64_t) const override { return 1; }
  Settings settings() const override { return {{"name", "constant"}}; }
};

class StepSchedule final : public Schedule {
 public:
  explicit StepSchedule(SettingsReader& settings) {
    drop_ = settings.get("drop", drop_);
    settings.check("drop", drop_ > 0 && drop_ <= 1, "above 0 and at most 1");
    every_epochs_ = settings.require_int("every_epochs");
    settings.check("every_epochs", every_epochs_ > 0, "at least 1");
  }
  //   drop ^ floor(epoch / every_epochs)
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t) const override {
    return std::pow(drop_, static_cast<double>(step / per_epoch / every_epochs_));
  }
  Settings settings() const override {
    return {{"name", "step"}, {"drop", drop_}, {"every_epochs", every_epochs_}};
  }

 private:
  double drop_ = 0.1;
  std::int64_t every_epochs_ = 0;
};

class ExponentialSchedule final : public Schedule {
 public:
  explicit ExponentialSchedule(SettingsReader& settings) {
    if (!settings.has("rate")) settings.fail("\"rate\" is missing", "for example rate = 0.95");
    rate_ = settings.get("rate", rate_);
    settings.check("rate", rate_ > 0 && rate_ <= 1, "above 0 and at most 1");
    epochs_ = settings.get("epochs", epochs_);
    settings.check("epochs", epochs_ > 0 && std::isfinite(epochs_), "above 0");
  }
  //   rate ^ (step / (per_epoch epochs))
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t) const override {
    const double epoch = static_cast<double>(step) / static_cast<double>(per_epoch);
    return std::pow(rate_, epoch / epochs_);
  }
  Settings settings() const override {
    return {{"name", "exponential"}, {"rate", rate_}, {"epochs", epochs_}};
  }

 private:
  double rate_ = 1;  // what `epochs_` epochs multiply the learning rate by
  double epochs_ = 1;
};

class CosineSchedule final : public Schedule {
 public:
  explicit CosineSchedule(SettingsReader& settings) {
    floor_ = settings.get("floor", floor_);
    settings.check("floor", floor_ >= 0 && floor_ <= 1, "at least 0 and at most 1");
  }
  //   floor + (1 - floor) (1 + cos(pi step / total)) / 2
  double factor(std::int64_t step, std::int64_t, std::int64_t total) const override {
    if (step >= total) return floor_;
    const double done = static_cast<double>(step) / static_cast<double>(total);
    return floor_ + (1 - floor_) * (1 + std::cos(std::numbers::pi * done)) / 2;
  }
  Settings settings() const override { return {{"name", "cosine"}, {"floor", floor_}}; }

 private:
  double floor_ = 0;  // what is left of the rate at the end
};

class PiecewiseSchedule final : public Schedule {
 public:
  explicit PiecewiseSchedule(SettingsReader& settings) {
    for (const auto& [key, list] : {std::pair("epochs", &epochs_), {"factors", &factors_}}) {
      if (!settings.has(key)) {
        settings.fail(std::string("\"") + key + "\" is missing",
                      "for example epochs = [30, 60], factors = [0.1, 0.01]");
      }
      *list = settings.get(key, *list);
    }
    const auto usable = [](double number) { return number >= 0 && std::isfinite(number); };
    const bool rising =
        std::adjacent_find(epochs_.begin(), epochs_.end(), std::greater_equal<>()) == epochs_.end();
    settings.check("epochs",
                   rising && !epochs_.empty() && epochs_.front() > 0 &&
                       std::all_of(epochs_.begin(), epochs_.end(), usable),
                   "rising numbers above 0");
    settings.check("factors", factors_.size() == epochs_.size(), "as many numbers as \"epochs\"");
    settings.check("factors", std::all_of(factors_.begin(), factors_.end(), usable), "at least 0");
  }
  //   factors[k] for the last k with epochs[k] <= step / per_epoch, 1 before the first
  double factor(std::int64_t step, std::int64_t per_epoch, std::int64_t) const override {
    double factor = 1;
    for (std::size_t k = 0; k < epochs_.size(); ++k) {
      const double begin = std::ceil(epochs_[k] * static_cast<double>(per_epoch));
      if (static_cast<double>(step) >= begin) factor = factors_[k];
    }
    return factor;
  }
  Settings settings() const override {
    return {{"name", "piecewise"},
            {"epochs", Value::Array(epochs_.begin(), epochs_.end())},
            {"factors", Value::Array(factors_.begin(), factors_.end())}};
  }

 private:
  std::vector<double> epochs_;   // boundaries, not necessarily whole
  std::vector<double> factors_;  // from each boundary on
};

class PolynomialSchedule final : public Schedule {
 public:
  explicit PolynomialSchedule(SettingsReader& settings) {
    power_ = settings.get("power", power_);
    settings.check("power", power_ > 0 && std::isfinite(power_), "above 0");
    floor_ = settings.get("floor", floor_);
    settings.check("floor", floor_ >= 0 && floor_ <= 1, "at least 0 and at most 1");
  }
  //   floor + (1 - floor) (1 - step / total) ^ power
  double factor(std::int64_t step, std::int64_t, std::int64_t total) const override {
    if (step >= total) return floor_;
    const double left = 1 - static_cast<double>(step) / static_cast<double>(total);
    return floor_ + (1 - floor_) * std::pow(left, power_);
  }
  Settings settings() const override {
    return {{"name", "polynomial"}, {"power", power_}, {"floor", floor_}};
  }

 private:
  double power_ = 1;  // 1: a straight line
  double floor_ = 0;  // what is left of the rate at the end
};

// Names and defaults are PyTorch's.
class OneCycleSchedule final : public Schedule {
 public:
  explicit OneCycleSchedule(SettingsReader& settings) {
    pct_start_ = settings.get("pct_start", pct_start_);
    settings.check("pct_start", pct_start_ >= 0 && pct_start_ <= 1, "at least 0 and at most 1");
    div_factor_ = settings.get("div_factor", div_factor_);
    settings.check("div_factor", div_factor_ >= 1 && std::isfinite(div_factor_), "at least 1");
    final_div_factor_ = settings.get("final_div_factor", final_div_factor_);
    settings.check("final_div_factor", final_div_factor_ >= 1 && std::isfinite(final_div_factor_),
                   "at least 1");
  }
  // The top is reached at step pct_start * total - 1, the end at the last step.
  double factor(std::int64_t step, std::int64_t, std::int64_t total) const override {
    const double first = 1 / div_factor_;
    const double last = first / final_div_factor_;
    const double end = static_cast<double>(total - 1);
    const double top = pct_start_ * static_cast<double>(total) - 1;
    const double now = std::min(static_cast<double>(step), end);
    if (now <= top) return top > 0 ? anneal(first, 1, now / top) : 1;
    return anneal(1, last, (now - top) / (end - top));
  }
  Settings settings() const override {
    return {{"name", "one_cycle"},
            {"pct_start", pct_start_},
            {"div_factor", div_factor_},
            {"final_div_factor", final_div_factor_}};
  }

 private:
  //   b + (a - b) (1 + cos(pi x)) / 2: from a to b as x goes from 0 to 1
  static double anneal(double a, double b, double x) {
    return b + (a - b) / 2 * (1 + std::cos(std::numbers::pi * x));
  }

  double pct_start_ = 0.3;         // the part of all steps in which the rate rises
  double div_factor_ = 25;         // the rate starts from the base rate / div_factor
  double final_div_factor_ = 1e4;  // and ends at its start / final_div_factor
};

}  // namespace

std::unique_ptr<Schedule> constant_schedule(SettingsReader& settings) {
  return std::make_unique<ConstantSchedule>(settings);
}
std::unique_ptr<Schedule> step_schedule(SettingsReader& settings) {
  return std::make_unique<StepSchedule>(settings);
}
std::unique_ptr<Schedule> exponential_schedule(SettingsReader& settings) {
  return std::make_unique<ExponentialSchedule>(settings);
}
std::unique_ptr<Schedule> cosine_schedule(SettingsReader& settings) {
  return std::make_unique<CosineSchedule>(settings);
}
std::unique_ptr<Schedule> piecewise_schedule(SettingsReader& settings) {
  return std::make_unique<PiecewiseSchedule>(settings);
}
std::unique_ptr<Schedule> polynomial_schedule(SettingsReader& settings) {
  return std::make_unique<PolynomialSchedule>(settings);
}
std::unique_ptr<Schedule> one_cycle_schedule(SettingsReader& settings) {
  return std::make_unique<OneCycleSchedule>(settings);
}

}  // namespace convoke::optim

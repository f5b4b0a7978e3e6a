#include "convoke/sync/strategy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "convoke/core/table.hpp"

namespace convoke::sync {
namespace {

/// Sums the gradients of all ranks in every step.
class SumGradients final : public Strategy {
 public:
  bool sums_gradients(std::int64_t) const override { return true; }
  bool averages_after(std::int64_t, std::int64_t) const override { return true; }
  Settings settings() const override { return {{"name", "allreduce"}}; }
};

/// Exchanges nothing within an epoch (Zinkevich et al., "Parallelized stochastic gradient descent", 2010,
/// whose only average is the one at the end).
class NoExchange final : public Strategy {
 public:
  bool sums_gradients(std::int64_t) const override { return false; }
  bool averages_after(std::int64_t, std::int64_t) const override { return false; }
  Settings settings() const override { return {{"name", "none"}}; }
};

struct LocalSgdOptions {
  std::int64_t every = 8;
  double growth = 1;
  std::int64_t longest = 1000;
  std::int64_t after_epochs = 0;
  double momentum = 0;
  StateRule optimizer_state = StateRule::kAverage;
};

constexpr std::array<Named<StateRule>, 3> kStateRules{
    {{"average", StateRule::kAverage}, {"reset", StateRule::kReset}, {"keep", StateRule::kKeep}}};

constexpr std::array kLocalSgdKeys{
    key<&LocalSgdOptions::every>(
        {.name = "every",
         .range = {.least = 1, .largest = 1'000'000},
         .help = "steps that each rank makes on its own before the models are averaged"}),
    key<&LocalSgdOptions::growth>(
        {.name = "growth",
         .range = {.least = 1, .largest = 100},
         .help = "factor on `every` from one epoch to the next; 1: the number of steps stays the same"}),
    key<&LocalSgdOptions::longest>({.name = "longest",
                                    .range = {.least = 1, .largest = 1'000'000},
                                    .help = "the largest number of steps to which `growth` leads"}),
    key<&LocalSgdOptions::after_epochs>(
        {.name = "after_epochs",
         .range = {.least = 0},
         .help = "epochs at the start in which gradients are summed in every step (post-local SGD)"}),
    key<&LocalSgdOptions::momentum>(
        {.name = "momentum",
         .range = {.least = 0, .below = 1},
         .help = "momentum from one average to the next (BMUF); 0: the ranks go on from the mean"}),
    choice<kStateRules, &LocalSgdOptions::optimizer_state>(
        {.name = "optimizer_state",
         .help = "the state of the optimizer at an average: `\"average\"`, `\"reset\"` (set to 0, also where "
                 "`after_epochs` begins local SGD), or `\"keep\"`: each rank keeps its own, so the ranks "
                 "send less"}),
};

/// Local SGD: the ranks train for some steps on their own, then they average their models (Stich, "Local SGD
/// converges fast and communicates little", 2019). With `after_epochs` they sum their gradients before (post-
/// local SGD: Lin et al., "Don't use large mini-batches, use local SGD", 2020).
class LocalSgd final : public Strategy {
 public:
  explicit LocalSgd(SettingsReader& settings) { read_keys(kLocalSgdKeys, settings, options_); }
  static std::vector<KeyDescription> keys() { return describe_keys(kLocalSgdKeys); }

  bool sums_gradients(std::int64_t epoch) const override { return epoch < options_.after_epochs; }
  bool averages_after(std::int64_t epoch, std::int64_t step) const override {
    return step % steps_between(epoch - options_.after_epochs) == 0;
  }
  StateRule state_rule() const override { return options_.optimizer_state; }
  double momentum() const override { return options_.momentum; }
  Settings settings() const override {
    Settings settings{{"name", "local-sgd"}};
    write_keys(kLocalSgdKeys, options_, settings);
    return settings;
  }

 private:
  //   every growth^epoch, at most longest, at least every
  std::int64_t steps_between(std::int64_t local_epochs) const {
    const double steps =
        static_cast<double>(options_.every) * std::pow(options_.growth, static_cast<double>(local_epochs));
    const std::int64_t largest = std::max(options_.longest, options_.every);
    return std::llround(std::min(steps, static_cast<double>(largest)));
  }

  LocalSgdOptions options_;
};

template <class T>
std::unique_ptr<const Strategy> make(SettingsReader&) {
  return std::make_unique<T>();
}
std::unique_ptr<const Strategy> make_local_sgd(SettingsReader& settings) {
  return std::make_unique<LocalSgd>(settings);
}
std::vector<KeyDescription> no_keys() { return {}; }

struct Entry {
  std::string_view name;
  std::unique_ptr<const Strategy> (*read)(SettingsReader& settings);
  std::vector<KeyDescription> (*keys)();
};

constexpr std::array kStrategies{
    Entry{"allreduce", make<SumGradients>, no_keys},
    Entry{"local-sgd", make_local_sgd, LocalSgd::keys},
    Entry{"none", make<NoExchange>, no_keys},
};

}  // namespace

std::unique_ptr<const Strategy> make_strategy(const Settings& settings) {
  const std::string name = SettingsReader(settings, "strategy").get("name", "allreduce");
  const Entry& entry = find_in(kStrategies, name, "strategy", settings.where());
  SettingsReader read(settings, "strategy \"" + name + "\"");
  read.has("name");
  std::unique_ptr<const Strategy> strategy = entry.read(read);
  read.finish();
  return strategy;
}

std::vector<OptionTable> strategy_tables() {
  std::vector<OptionTable> tables;
  for (const Entry& entry : kStrategies) tables.push_back({std::string(entry.name), entry.keys()});
  return tables;
}

}  // namespace convoke::sync

#include "sync/local_sgd.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace convoke::sync {
namespace {

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
         .help = "the state of the optimizer at an average: `\"average\"`, `\"reset\"` (set to 0), or "
                 "`\"keep\"`: each rank keeps its own, so the ranks send less"}),
};

class LocalSgd final : public Strategy {
 public:
  explicit LocalSgd(const LocalSgdOptions& options) : options_(options) {}

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

}  // namespace

std::unique_ptr<const Strategy> read_local_sgd(SettingsReader& settings) {
  LocalSgdOptions options;
  read_keys(kLocalSgdKeys, settings, options);
  return std::make_unique<LocalSgd>(options);
}

std::vector<KeyDescription> local_sgd_keys() { return describe_keys(kLocalSgdKeys); }

}  // namespace convoke::sync

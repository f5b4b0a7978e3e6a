#include "convoke/sync/strategy.hpp"

#include <array>
#include <string_view>

#include "convoke/core/table.hpp"
#include "sync/local_sgd.hpp"

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

template <class T>
std::unique_ptr<const Strategy> make(SettingsReader&) {
  return std::make_unique<T>();
}
std::vector<KeyDescription> no_keys() { return {}; }

struct Entry {
  std::string_view name;
  std::unique_ptr<const Strategy> (*read)(SettingsReader& settings);
  std::vector<KeyDescription> (*keys)();
};

constexpr std::array kStrategies{
    Entry{"allreduce", make<SumGradients>, no_keys},
    Entry{"local-sgd", read_local_sgd, local_sgd_keys},
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

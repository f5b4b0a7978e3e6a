#include "convoke/sync/strategy.hpp"

#include <array>

#include "convoke/core/table.hpp"
#include "convoke/sync/allreduce.hpp"
#include "convoke/sync/none.hpp"

namespace convoke::sync {
namespace {

template <class T>
std::unique_ptr<Strategy> make(const mpi::Communicator& group, Exchange exchange,
                               const StrategyOptions& options) {
  return std::make_unique<T>(group, exchange, options);
}

struct Entry {
  std::string_view name;
  std::unique_ptr<Strategy> (*make)(const mpi::Communicator& group, Exchange exchange,
                                    const StrategyOptions& options);
};

constexpr std::array kStrategies{
    Entry{"allreduce", make<AllReduce>},
    Entry{"none", make<None>},
};

}  // namespace

std::unique_ptr<Strategy> make_strategy(const std::string& name, const mpi::Communicator& group,
                                        Exchange exchange, const StrategyOptions& options) {
  return find_in(kStrategies, name, "strategy").make(group, exchange, options);
}

std::vector<std::string> strategy_names() { return names_in(kStrategies); }

}  // namespace convoke::sync

#include "convoke/sync/strategy.hpp"

#include <array>

#include "convoke/core/table.hpp"
#include "convoke/sync/allreduce.hpp"

namespace convoke::sync {
namespace {

// No communication: the sums are this rank's own gradients, as for the members of an ensemble.
class None final : public Strategy {
 public:
  None(const mpi::Communicator&, Exchange, const StrategyOptions&) {}

  void begin_step() override {}
  void gradients_ready(std::size_t) override {}
  void finish_gradients() override {}
  void after_step(std::span<float>) override {}
  double exposed_seconds() const override { return 0; }
};

template <class T>
std::unique_ptr<Strategy> make(const mpi::Communicator& group, Exchange exchange,
                               const StrategyOptions& options) {
  return std::make_unique<T>(group, exchange, options);
}

struct Entry {
  std::string_view name;
  bool sums_every_step;
  std::unique_ptr<Strategy> (*make)(const mpi::Communicator& group, Exchange exchange,
                                    const StrategyOptions& options);
};

constexpr std::array kStrategies{
    Entry{"allreduce", true, make<AllReduce>},
    Entry{"none", false, make<None>},
};

}  // namespace

bool sums_every_step(const std::string& name) {
  return find_in(kStrategies, name, "strategy").sums_every_step;
}

std::unique_ptr<Strategy> make_strategy(const std::string& name, const mpi::Communicator& group,
                                        Exchange exchange, const StrategyOptions& options) {
  return find_in(kStrategies, name, "strategy").make(group, exchange, options);
}

}  // namespace convoke::sync

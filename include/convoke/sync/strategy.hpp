#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "convoke/mpi/communicator.hpp"

namespace convoke::sync {

/// The data that ranks exchange in a step: the gradient arena as floats ("fast") or as fixed point ("exact");
/// the other one is empty. Belongs to the caller; the same memory in every step.
struct Exchange {
  std::span<float> floats;
  std::span<std::int64_t> fixed;
  std::size_t size() const { return floats.empty() ? fixed.size() : floats.size(); }
};

struct StrategyOptions {
  std::size_t bucket_bytes = 0;  ///< approximate size of a bucket; 0: chosen by the size of the exchange
};

/// The communication of a group's ranks in a step. Called by one thread.
class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual void begin_step() = 0;
  /// Reports that this rank's gradients in elements [0, end) are complete. May start to exchange them, and
  /// makes progress on running exchanges. Called often during backward; `end` never decreases.
  virtual void gradients_ready(std::size_t end) = 0;
  /// Called when all gradients are complete; returns when the exchange holds the sums over the ranks.
  virtual void finish_gradients() = 0;
  /// Called after the optimizer's update of `parameters`.
  virtual void after_step(std::span<float> parameters) = 0;
  /// Returns the seconds in the last step in which this rank only waited for the exchange.
  virtual double exposed_seconds() const = 0;
};

/// Returns true if the strategy `name` sums the gradients of all ranks in every step, so that their
/// parameters are equal. Throws Error listing the known names.
bool sums_every_step(const std::string& name);

/// Makes "allreduce" (sums the gradients every step) or "none". The memory of `exchange` must outlive the
/// strategy. Throws Error listing the known names.
std::unique_ptr<Strategy> make_strategy(const std::string& name, const mpi::Communicator& group,
                                        Exchange exchange, const StrategyOptions& options);

}  // namespace convoke::sync

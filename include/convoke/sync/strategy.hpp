#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "convoke/mpi/communicator.hpp"

namespace convoke::sync {

/// What ranks exchange in a step: the gradient arena as floats ("fast") or as fixed point ("exact"); one is
/// empty. Belongs to the caller; the same memory in every step.
struct Exchange {
  std::span<float> floats;
  std::span<std::int64_t> fixed;
  std::size_t size() const { return floats.empty() ? fixed.size() : floats.size(); }
};

struct StrategyOptions {
  std::size_t bucket_bytes = 0;  ///< bytes a bucket carries, about; 0: chosen from the size of the exchange
};

/// How the ranks of a group act on a step. Called by one thread.
class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual void begin_step() = 0;
  /// This rank's gradients in elements [0, end) are complete; may start to exchange them, and makes progress
  /// on what is under way. Called often during backward, with an `end` that never falls.
  virtual void gradients_ready(std::size_t end) = 0;
  /// Everything is complete; returns when the exchange holds the sums over the ranks.
  virtual void finish_gradients() = 0;
  /// After the optimizer's update of `parameters`.
  virtual void after_step(std::span<float> parameters) = 0;
  /// Seconds of the last step in which this rank did nothing but wait for the exchange.
  virtual double exposed_seconds() const = 0;
};

/// "allreduce" (sum the gradients every step) or "none". The memory of `exchange` must outlive the strategy.
/// Throws Error listing the known names.
std::unique_ptr<Strategy> make_strategy(const std::string& name, const mpi::Communicator& group,
                                        Exchange exchange, const StrategyOptions& options);

}  // namespace convoke::sync

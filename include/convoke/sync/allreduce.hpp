#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "convoke/core/timeline.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/sync/bucket_sum.hpp"
#include "convoke/sync/ordered_sum.hpp"

namespace convoke::sync {

/// The type in which gradients travel between nodes.
enum class Wire { kFloat32, kBfloat16 };

/// The data that ranks exchange in a step: the gradient arena as floats ("fast") or as fixed point ("exact");
/// the other one is empty. Belongs to the caller; the same memory in every step.
struct Exchange {
  std::span<float> floats;
  std::span<std::int64_t> fixed;
  std::size_t roundable = 0;  ///< the first so many floats may travel as bf16
  std::size_t size() const { return floats.empty() ? fixed.size() : floats.size(); }
};

struct ExchangeOptions {
  std::size_t bucket_bytes = 0;  ///< approximate size of a bucket; 0: chosen by the size of the exchange
  Wire wire = Wire::kFloat32;    ///< of the roundable floats
};

/// Sums the gradients over the group in every step, in buckets: fixed slices of the exchange, the same on all
/// ranks, so that no negotiation is needed. A bucket's sum starts in place as soon as this rank's part of it
/// is complete, and runs while backward computes the next. A group of one rank does nothing. Used by one
/// thread.
class AllReduce {
 public:
  /// Collective over `group`. The memory of `exchange` must outlive it.
  AllReduce(const mpi::Communicator& group, const Exchange& exchange, const ExchangeOptions& options);

  void begin_step();
  /// Reports that this rank's gradients in elements [0, end) are complete. May start to exchange them, and
  /// makes progress on running exchanges. Called often during backward; `end` never decreases.
  void gradients_ready(std::size_t end);
  /// Called when all gradients are complete; returns when the exchange holds the sums over the ranks.
  void finish_gradients();

  /// Number of sums in a step; 0 in a group of one.
  std::size_t buckets() const { return sums_.size(); }

 private:
  template <class Value, class Wire = Value>
  void add_buckets(const mpi::Communicator& group, std::span<Value> values, std::size_t elements);
  void start_next();
  void poll();

  std::optional<SumChannels> channels_;           // of rounded sums
  std::vector<std::unique_ptr<BucketSum>> sums_;  // by bucket
  std::vector<std::size_t> ends_;                 // one past the last element of each bucket
  std::size_t started_ = 0;                       // number of buckets
  std::size_t combined_ = 0;  // number of buckets in their second phase or done, from the first one on
  std::size_t done_ = 0;      // number of buckets, from the first one on
  Flights flights_;           ///< of the buckets, for the trace
};

/// Returns true if so many ranks sum fp32 and fixed point in slices (OrderedSum); more ranks leave it to the
/// MPI library.
bool sums_in_slices(int ranks);
/// Returns the default size of a bucket in bytes, for an exchange of so many bytes.
std::size_t bucket_bytes_for(std::size_t exchange_bytes);
/// Returns the number of elements of a bucket, for an exchange of so many (not 0); the last bucket has the
/// rest.
std::size_t bucket_elements(std::size_t elements, std::size_t element_bytes, const ExchangeOptions& options);

}  // namespace convoke::sync

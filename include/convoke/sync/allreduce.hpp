#pragma once
#include <cstddef>
#include <vector>

#include "convoke/sync/strategy.hpp"

namespace convoke::sync {

/// Sums the gradients over the group in every step, in buckets: fixed slices of the exchange, the same on all
/// ranks, so that no negotiation is needed. A bucket's sum starts in place as soon as this rank's part of it
/// is complete, and runs while backward computes the next. A group of one rank does nothing.
class AllReduce final : public Strategy {
 public:
  AllReduce(const mpi::Communicator& group, Exchange exchange, const StrategyOptions& options);

  void begin_step() override;
  void gradients_ready(std::size_t end) override;
  void finish_gradients() override;
  void after_step(std::span<float>) override {}
  double exposed_seconds() const override { return exposed_seconds_; }

  /// Number of collectives in a step; 0 in a group of one.
  std::size_t buckets() const { return requests_.size(); }

 private:
  std::size_t bucket_end(std::size_t bucket) const;  ///< one past its last element
  void start_next();
  void poll();

  mpi::Communicator group_;
  Exchange exchange_;
  std::size_t bucket_elements_ = 0;
  std::vector<mpi::Request> requests_;  ///< one for each bucket, so that a step does not allocate memory
  std::size_t started_ = 0;             ///< number of buckets
  std::size_t done_ = 0;                ///< number of buckets, from the first one on
  double exposed_seconds_ = 0;
};

/// Returns the default size of a bucket in bytes, for an exchange of so many bytes.
std::size_t bucket_bytes_for(std::size_t exchange_bytes);
/// Returns the number of elements of a bucket, for an exchange of so many (not 0); the last bucket has the
/// rest.
std::size_t bucket_elements(std::size_t elements, std::size_t element_bytes, const StrategyOptions& options);

}  // namespace convoke::sync

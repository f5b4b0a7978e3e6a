#pragma once
#include <cstddef>

namespace convoke::sync {

/// The sum of an array over the ranks of a group, which runs in the background in two phases. All ranks start
/// the sums of a group in the same order, and their second phases, too.
class BucketSum {
 public:
  virtual ~BucketSum() = default;
  /// Starts to sum; the array must not change until finish() returns true.
  virtual void start() = 0;
  /// Begins the second phase if the first is over. Returns true if the second phase has begun; with `wait` it
  /// waits for the first.
  virtual bool combine(bool wait) = 0;
  /// Returns true if the array holds the sum; with `wait` it waits for it. Call it after combine() has
  /// returned true.
  virtual bool finish(bool wait) = 0;
  /// Returns the size of its buffers.
  virtual std::size_t bytes() const { return 0; }
};

}  // namespace convoke::sync

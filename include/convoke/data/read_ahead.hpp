#pragma once
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "convoke/data/epoch_plan.hpp"
#include "convoke/data/sample_stream.hpp"

namespace convoke::data {

/// Samples [first, first + count) of a step.
struct SampleRange {
  std::int64_t first = 0, count = 0;
};

/// A thread that reads the samples of an epoch that this process will use, until it is destroyed.
///
/// The thread takes the steps in blocks of about a shuffle window. It reads the samples of a block in the
/// order of their place in the files, neighbors together, and stores them in the order of their use, so that
/// it reads no sample twice and does not seek back. While one block is used, the next is read. The ranks of a
/// node read the same part of the files at about the same time and share the system's page cache.
class ReadAhead {
 public:
  /// Returns the samples of a step of `samples` that this process uses.
  using Share = std::function<SampleRange(std::int64_t samples)>;

  /// Starts at step `first_step`. `plan` and `stream` must outlive this object; a stream has at most one such
  /// object at a time. Does nothing if two steps need more than stream.memory(), or if the files must be
  /// unpacked.
  ReadAhead(SampleStream& stream, const EpochPlan& plan, std::int64_t first_step, Share share);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Releases the samples of the current step.
  void step_done();

  /// Waits until the samples `ids`, a part of plan.step(), have been read, and returns them one after the
  /// other; null if they are not in this process's share of the current steps. Rethrows errors of the reading
  /// thread.
  const std::byte* find(std::span<const std::uint32_t> ids) const;

 private:
  struct Wanted {
    std::uint32_t id;
    std::uint32_t place;  // in the block
  };
  std::int64_t blocks() const;
  void serve();
  void fill(std::int64_t block);
  void read_run(std::span<const Wanted> run, std::byte* to);

  SampleStream& stream_;
  const EpochPlan& plan_;
  const std::int64_t first_step_;
  const Share share_;
  const std::size_t size_;         // bytes of a sample
  std::int64_t block_steps_ = 0;   // 0: does not read ahead
  std::int64_t step_samples_ = 0;  // of this process, in a full step
  std::array<std::unique_ptr<std::byte[]>, 2> buffers_;
  std::vector<Wanted> wanted_;
  std::vector<std::byte> scratch_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::atomic<std::int64_t> filled_{0};  // number of blocks that have been read
  std::int64_t steps_done_ = 0;          // since the first step
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;  // last: it uses all members above
};

}  // namespace convoke::data

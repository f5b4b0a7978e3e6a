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

/// While it lives, a thread reads the samples that this process takes of an epoch before they are wanted.
///
/// The steps are taken in blocks of about a shuffle window. A block's samples are read in order of their
/// place in the files, together where they are neighbours, and put in order of their use, so that nothing is
/// sought for or read twice; while one block is used, the next is read. The ranks of a node read the same
/// part of the files at about the same time, and the system's page cache is what they share.
class ReadAhead {
 public:
  /// Which samples of a step of `samples` this process takes.
  using Share = std::function<SampleRange(std::int64_t samples)>;

  /// Starts at step `first_step`. `plan` and `stream` must outlive it; of one stream at a time. Does nothing
  /// where two steps need more than stream.memory(), or the files want unpacking.
  ReadAhead(SampleStream& stream, const EpochPlan& plan, std::int64_t first_step, Share share);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// The samples of the step under way are not wanted any more.
  void step_done();

  /// The samples `ids`, a part of plan.step(), one after the other, once they have been read; null if they
  /// are not of this process's share of the steps under way. Throws what reading them has thrown.
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
  std::int64_t block_steps_ = 0;   // 0: nothing is read ahead
  std::int64_t step_samples_ = 0;  // of this process, of a full step
  std::array<std::unique_ptr<std::byte[]>, 2> buffers_;
  std::vector<Wanted> wanted_;
  std::vector<std::byte> scratch_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::atomic<std::int64_t> filled_{0};  // blocks that have been read
  std::int64_t steps_done_ = 0;          // since the first
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace convoke::data

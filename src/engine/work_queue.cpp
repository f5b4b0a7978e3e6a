#include "convoke/engine/work_queue.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "convoke/mpi/together.hpp"

namespace convoke::engine {
namespace {

// A word of WaitingMicroBatches: the step that it belongs to, modulo 2^24, the first micro-batch, and the one
// after the last. A word of an earlier step means that the whole share waits. So the queue needs no
// filling before workers take from it, and other workers can take the micro-batches of one that comes late.
constexpr int kMicroBatchBits = 20, kStepBits = 24;
constexpr std::uint64_t kMicroBatchMask = (std::uint64_t{1} << kMicroBatchBits) - 1;
constexpr std::uint64_t kStepMask = (std::uint64_t{1} << kStepBits) - 1;

constexpr std::int64_t kStepsOneByOne = 64;
constexpr double kUneven = 0.75;

// All processes of a host have this clock.
double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t word_of(std::uint64_t step, std::int64_t first, std::int64_t end) {
  return (step & kStepMask) << (2 * kMicroBatchBits) | static_cast<std::uint64_t>(first) << kMicroBatchBits |
         static_cast<std::uint64_t>(end);
}

}  // namespace

WorkQueue::WorkQueue(const ModelMemory& memory, const mpi::Communicator& group, bool own_rank_only)
    : waiting_(memory.waiting()) {
  const std::vector<int> ranks = mpi::all_gather(memory.node(), group.rank());
  for (int rank = 0; rank < memory.node().size(); ++rank) {
    const int first = memory.first_worker(rank), workers = memory.first_worker(rank + 1) - first;
    if (rank == memory.node().rank()) {
      mine_ = static_cast<std::size_t>(own_rank_only ? 0 : first);
      if (own_rank_only)
        waiting_ = waiting_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(workers));
    } else if (own_rank_only) {
      continue;
    }
    for (int worker = 0; worker < workers; ++worker) {
      ranks_.push_back(ranks[static_cast<std::size_t>(rank)]);
      in_rank_.push_back({worker, workers});
    }
  }
  given_.resize(waiting_.size());
}

bool WorkQueue::shares(std::int64_t micro_batches) const {
  return waiting_.size() > 1 && micro_batches <= static_cast<std::int64_t>(kMicroBatchMask);
}

void WorkQueue::begin_step(std::int64_t micro_batches, const MicroBatchShares& shares) {
  if (steps_one_by_one_ > 0) {
    --steps_one_by_one_;
  } else if (step_ > 0 && uneven()) {
    steps_one_by_one_ = kStepsOneByOne;
  }
  ++step_;
  for (std::size_t i = 0; i < given_.size(); ++i)
    given_[i] =
        share_of(shares.micro_batches(micro_batches, ranks_[i]), in_rank_[i].first, in_rank_[i].count);
  began_ = now_seconds();
}

WorkQueue::Rest WorkQueue::rest(std::size_t worker) const {
  const std::uint64_t word = waiting_[worker].word.load(std::memory_order_acquire);
  if (word >> (2 * kMicroBatchBits) != (step_ & kStepMask))
    return {word, given_[worker].first, given_[worker].count};
  const auto first = static_cast<std::int64_t>(word >> kMicroBatchBits & kMicroBatchMask);
  return {word, first, static_cast<std::int64_t>(word & kMicroBatchMask) - first};
}

bool WorkQueue::replace(std::size_t worker, const Rest& seen, std::int64_t first, std::int64_t count) {
  std::uint64_t expected = seen.word;
  return waiting_[worker].word.compare_exchange_strong(expected, word_of(step_, first, first + count),
                                                       std::memory_order_acq_rel);
}

void WorkQueue::give_up_slice() const {
  if (one_by_one() && !empty()) std::this_thread::yield();
}

bool WorkQueue::take(int worker, std::int64_t micro_batches) {
  give_up_slice();
  const std::size_t i = mine_ + static_cast<std::size_t>(worker);
  for (;;) {
    const Rest now = rest(i);
    if (now.count < micro_batches) return false;
    if (replace(i, now, now.first + micro_batches, now.count - micro_batches)) return true;
  }
}

std::optional<std::int64_t> WorkQueue::take_last() {
  give_up_slice();
  for (;;) {
    std::size_t from = 0;
    Rest most;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const Rest now = rest(i);
      if (now.count <= most.count) continue;
      most = now;
      from = i;
    }
    if (most.count == 0) return std::nullopt;
    if (replace(from, most, most.first, most.count - 1)) return most.first + most.count - 1;
  }
}

bool WorkQueue::empty() const {
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (rest(i).count > 0) return false;
  }
  return true;
}

void WorkQueue::end(int worker) {
  waiting_[mine_ + static_cast<std::size_t>(worker)].ended.store(now_seconds(), std::memory_order_relaxed);
}

// Compares the times of the newest step, each in proportion to the micro-batches of the worker's share.
bool WorkQueue::uneven() const {
  double least = 0, most = 0;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (given_[i].count == 0) continue;
    const double seconds =
        (waiting_[i].ended.load(std::memory_order_relaxed) - began_) / static_cast<double>(given_[i].count);
    least = least == 0 ? seconds : std::min(least, seconds);
    most = std::max(most, seconds);
  }
  return least < kUneven * most;
}

}  // namespace convoke::engine

#include "convoke/engine/model_memory.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "convoke/core/timeline.hpp"
#include "convoke/mpi/together.hpp"

namespace convoke::engine {
namespace {

// Gives out consecutive pieces of a block of memory, each on its own cache lines. Without memory, it only
// counts bytes.
class Pieces {
 public:
  explicit Pieces(std::byte* memory) : memory_(memory) {}

  template <class T>
  std::span<T> next(std::size_t count) {
    T* const first = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + bytes_);
    bytes_ += (count * sizeof(T) + kCacheLine - 1) / kCacheLine * kCacheLine;
    return {first, memory_ == nullptr ? 0 : count};
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kCacheLine = 64;
  std::byte* memory_;
  std::size_t bytes_ = 0;
};

// Returns the number of each rank's first worker, and the number of all workers.
std::vector<int> count_workers(const mpi::Communicator& node, int workers) {
  const std::vector<int> counts = mpi::all_gather(node, workers);
  std::vector<int> first(counts.size() + 1);
  std::partial_sum(counts.begin(), counts.end(), first.begin() + 1);
  return first;
}

}  // namespace

ModelMemory::ModelMemory(const mpi::Communicator& node, const Sizes& sizes, int workers)
    : node_(node), first_worker_(count_workers(node, workers)) {
  memory_.emplace(node, mpi::together(node, [&] { return place_arrays(sizes, nullptr); }));
  mpi::together(node, [&] { place_arrays(sizes, memory_->bytes().data()); });
  // Pages belong to the socket of the rank that writes them first: the sums are left to their workers.
  const auto shared_by_all =
      reinterpret_cast<std::byte*>(sums_.front().floats.data()) - memory_->bytes().data();
  if (memory_->owner()) std::fill_n(memory_->bytes().begin(), shared_by_all, std::byte{0});
  memory_->publish();
}

// Places all arrays in `memory`, or counts their bytes if it is null.
std::size_t ModelMemory::place_arrays(const Sizes& sizes, std::byte* memory) {
  Pieces pieces(memory);
  barrier_ = pieces.next<Barrier>(1).data();
  const auto workers = static_cast<std::size_t>(this->workers());
  const std::span<Completion> completions = pieces.next<Completion>(workers);
  waiting_ = pieces.next<WaitingMicroBatches>(workers);
  blocks_ = pieces.next<BlockSums>(sizes.blocks);
  parameters_ = pieces.next<float>(sizes.parameters);
  states_.clear();
  for (std::size_t slot = 0; slot < sizes.slots; ++slot) {
    states_.push_back(sizes.half_states ? StateArray(pieces.next<sync::Bfloat16>(sizes.trainable))
                                        : StateArray(pieces.next<float>(sizes.trainable)));
  }
  average_ = pieces.next<float>(sizes.average ? sizes.parameters : 0);
  sums_.clear();
  for (std::size_t i = 0; i < workers; ++i) {
    const std::span<float> floats = pieces.next<float>(sizes.sums);
    const std::span<std::int64_t> fixed = pieces.next<std::int64_t>(sizes.exact ? sizes.sums : 0);
    sums_.push_back({floats, fixed, memory == nullptr ? nullptr : &completions[i]});
  }
  return pieces.bytes();
}

void ModelMemory::barrier() {
  if (node_.size() == 1) return;
  os::EventCount& rounds = barrier_->rounds;
  const std::uint32_t round = rounds.count();
  const auto ranks = static_cast<std::uint32_t>(node_.size());
  if (barrier_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks) {
    barrier_->arrived.store(0, std::memory_order_relaxed);
    rounds.advance();
  } else {
    const ScopedWait wait("the other ranks of its node");
    rounds.await([&] { return rounds.count() != round; });
  }
}

}  // namespace convoke::engine

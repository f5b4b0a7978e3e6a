#include "convoke/engine/work_queue.hpp"

#include "convoke/engine/step_engine.hpp"
#include "convoke/engine/worker_team.hpp"
#include "convoke/mpi/shared_memory.hpp"
#include "convoke/os/clock.hpp"
#include "engine/engine_options.hpp"
#include "support/catch.hpp"
#include "support/differences.hpp"
#include "support/other_loss.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

// Micro-batches that workers take from each other: each is computed once, and the result is that of
// equal shares, on 1 to 4 ranks.

using namespace convoke;
using namespace convoke::engine;

namespace {

constexpr std::int64_t kMicroBatch = 4, kBatch = 32;

/// A loss that the first worker of the last rank leaves only when the other workers have computed all samples
/// of the step that it does not have itself, as if its core were taken from it for that long.
class HeldLoss final : public tiny::OtherLoss {
 public:
  /// `computed`: samples so far, on all ranks.
  HeldLoss(std::atomic<std::int64_t>& computed, bool held) : computed_(computed), held_(held) {}

  nn::LossSums compute(const nn::LossInputs& samples, float* gradient) const override {
    const auto mine = static_cast<std::int64_t>(samples.labels.size());
    // In the first step each worker computes its own micro-batches, and compiles its plans.
    if (held_ && computed_ >= kBatch && std::this_thread::get_id() == first_) {
      const std::int64_t others = computed_ / kBatch * kBatch + kBatch - mine;
      const os::Stopwatch watch;  // the test fails if no worker takes the micro-batches
      while (computed_ < others && watch.seconds() < 5) std::this_thread::yield();
      alone_ = alone_ || computed_ < others;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    computed_ += mine;
    return OtherLoss::compute(samples, gradient);
  }

  /// True if the others left micro-batches to the worker for seconds.
  bool alone() const { return alone_; }

 private:
  std::atomic<std::int64_t>& computed_;
  bool held_;
  mutable bool alone_ = false;
  std::thread::id first_ = std::this_thread::get_id();
};

/// The result of 6 full steps, or more until the last rank has computed few samples of the newest one.
struct TrainedFull {
  std::vector<float> parameters;
  int steps = 0;
  std::vector<std::int64_t> samples;  ///< that each rank computed in the last step
};
TrainedFull trained_full(const mpi::Communicator& group, EngineOptions options,
                         std::int64_t last_rank_at_most, int at_most) {
  const EngineTask task(kBatch, {{"name", "sgd"}, {"momentum", 0.9}});
  options.batch = kBatch;
  options.micro_batch = kMicroBatch;
  options.seed = 5;
  StepEngine engine = task.engine(options, group);
  TrainedFull result;
  while (result.steps < at_most) {
    engine.step(0, task.ids, 0.02);
    result.samples.assign(static_cast<std::size_t>(group.size()), 0);
    result.samples[static_cast<std::size_t>(group.rank())] = engine.samples();
    group.sum(std::span(result.samples));
    CHECK(std::accumulate(result.samples.begin(), result.samples.end(), std::int64_t{0}) == kBatch);
    if (++result.steps >= 6 && result.samples.back() <= last_rank_at_most) break;
  }
  result.parameters = unpack(canonical_parameters(task.graph), engine.layout(), engine.parameters());
  return result;
}

}  // namespace

TEST_CASE("each micro-batch of a step is given out once, whoever takes it") {
  constexpr int kWorkers = 2;
  const mpi::Communicator group = world();
  for (const bool own_rank_only : {false, true}) {
    ModelMemory memory(group.split_node(), {.parameters = 1, .sums = 1}, kWorkers);
    WorkQueue queue(memory, group, own_rank_only);
    WorkerTeam team(kWorkers);
    const MicroBatchShares equal(group.size());
    std::vector<std::int64_t> expected, taken;
    for (const std::int64_t micro_batches : {37, 1, 8}) {
      const MicroBatchRange mine = equal.micro_batches(micro_batches, group.rank());
      for (int step = 0; step < 300; ++step) {
        std::vector<std::vector<std::int64_t>> found(kWorkers);
        memory.barrier();
        queue.begin_step(micro_batches, equal);
        team.run([&](int worker) {
          auto& list = found[static_cast<std::size_t>(worker)];
          const MicroBatchRange own = share_of(mine, worker, kWorkers);
          // A worker that does not even begin keeps nothing from the others.
          const bool absent = (step + worker + group.rank()) % 3 == 0;
          for (std::int64_t i = 0; !absent && i + 1 < own.count && queue.take(worker, 2); i += 2) {
            list.push_back(own.first + i);
            list.push_back(own.first + i + 1);
          }
          while (const auto micro_batch = queue.take_last()) list.push_back(*micro_batch);
          if (!queue.empty()) FAIL_CHECK("a micro-batch is left");
        });
        std::vector<std::int64_t> times(static_cast<std::size_t>(micro_batches));
        for (const auto& list : found) {
          for (const std::int64_t micro_batch : list) {
            ++times[static_cast<std::size_t>(micro_batch)];
            if (own_rank_only && (micro_batch < mine.first || micro_batch >= mine.first + mine.count))
              FAIL_CHECK("micro-batch " << micro_batch << " has left its rank");
          }
        }
        group.sum(std::span(times));
        if (times != std::vector<std::int64_t>(times.size(), 1)) FAIL_CHECK("step " << step);
      }
    }
  }
}

TEST_CASE("a worker that is held leaves its micro-batches to others, and with exact no bit changes") {
  const mpi::Communicator group = world(), alone = group.split(group.rank(), 0);
  const mpi::SharedMemory shared(group.split_node(), sizeof(std::atomic<std::int64_t>));
  auto& computed = *reinterpret_cast<std::atomic<std::int64_t>*>(shared.bytes().data());
  const bool last = group.rank() + 1 == group.size();
  for (const Reduction reduction : {Reduction::kExact, Reduction::kFast}) {
    const bool exact = reduction == Reduction::kExact;
    for (const int threads : {1, 2}) {
      if (group.size() * threads == 1) continue;
      if (shared.owner()) computed = 0;
      shared.publish();
      // The held worker has begun one micro-batch at most. With floats, that is so once workers compute
      // single micro-batches.
      const std::int64_t most = threads > 1 ? kBatch : kMicroBatch;
      const auto loss = std::make_shared<const HeldLoss>(computed, last);
      EngineOptions options;
      options.reduction = reduction;
      EngineOptions shared_out = options;
      shared_out.loss = loss;
      shared_out.threads = threads;
      shared_out.balance = !exact;
      const TrainedFull result = trained_full(group, shared_out, most, exact ? 6 : 500);
      const std::vector<float> expected = trained_full(alone, options, kBatch, result.steps).parameters;
      CAPTURE(exact, threads, result.steps);
      CHECK_FALSE(loss->alone());
      CHECK(result.samples.back() <= most);
      CHECK(largest_difference(expected, result.parameters) <= (exact ? 0 : 1e-4));
    }
  }
}

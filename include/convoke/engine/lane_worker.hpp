#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/data/batch_loader.hpp"
#include "convoke/engine/stretches.hpp"
#include "convoke/nn/plan/network.hpp"

namespace convoke::engine {

class MomentsExchange;

/// What a step adds up besides gradients: the last elements of the exchanged arena.
enum Tally : std::size_t { kLoss = 0, kCorrect = 1, kBad = 2, kFailed = 3, kTallySize = 16 };

/// A step as all workers of a rank see it.
struct StepInput {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::span<const std::uint32_t> samples;       ///< of the whole global batch
  std::int64_t lane = 0;                        ///< samples per lane; the last lane may be smaller
  std::span<const std::uint32_t> repeats = {};  ///< see data::EpochPlan::repeats
};

/// One worker thread: runs its lanes of a step through plans of its own and sums their gradients. With
/// `exact`, lane by lane into 64-bit fixed point, so that the sum does not depend on who ran which lane; else
/// neighbouring lanes together, in floats. With `moments` all of its lanes advance together. Used by one
/// thread, which also compiles the plans.
class LaneWorker {
 public:
  struct Options {
    bool exact = false;
    nn::PlanOptions plan;                ///< of all plans; lane and lanes are set for each
    std::int64_t plan_bytes = 0;         ///< activation memory of lanes that run together, about
    MomentsExchange* moments = nullptr;  ///< of synchronised batch norms, if the graph has any
    int worker = 0;                      ///< in that exchange
  };
  LaneWorker(const nn::Graph& graph, std::shared_ptr<const nn::ParameterLayout> layout,
             const float* parameters, const std::byte* working, const data::BatchLoader& loader,
             Options options);
  ~LaneWorker();

  /// Runs `lanes` of the step and leaves their sums in floats() or fixed(). `progress` is called between
  /// primitives, when complete() may have risen.
  void run(const StepInput& step, LaneRange lanes, const std::function<void()>& progress);

  /// Sums in elements [0, complete()) are final; the last part is the tally. Read by other threads.
  std::size_t complete() const { return complete_.load(std::memory_order_acquire); }
  void restart() { complete_.store(0, std::memory_order_relaxed); }
  /// After a run() that did not complete the sums: they count as complete, and the tally says that they are
  /// not, so that the exchange with the other ranks can end.
  void give_up();

  std::span<float> floats() { return floats_.span(); }       ///< layout.size() + kTallySize
  std::span<std::int64_t> fixed() { return fixed_.span(); }  ///< the same, exact only

  /// Runs the lanes again, forward only: the first node whose output is not finite, or "".
  std::string first_non_finite(const StepInput& step, LaneRange lanes);
  std::size_t plan_bytes() const;

  /// The plan that ran last; null before the first.
  nn::Network* latest() { return latest_; }

  /// The plan of `lanes` lanes of `lane` samples, compiled at first use. Those of several instances run at
  /// the same time.
  nn::Network& plan(std::int64_t lane, std::int64_t lanes, std::size_t instance = 0);

 private:
  /// What is known of a plan's samples.
  struct Targets {
    std::vector<std::int32_t> labels;
    std::vector<float> weights;               ///< empty if they have none
    std::vector<std::int32_t> second_labels;  ///< empty, as their shares, unless samples are mixed
    std::vector<float> shares;
  };
  class InStep;

  static data::ViewKey view_of(const StepInput& step, const Stretch& stretch);
  static nn::StepKey key_of(const StepInput& step, const Stretch& stretch);
  std::vector<Stretch> stretches(const StepInput& step, LaneRange lanes) const;
  nn::Network& load(const StepInput& step, const Stretch& stretch, Targets& targets,
                    std::size_t instance = 0);
  void judge(nn::Network& network, const StepInput& step, const Targets& targets, float* gradients);
  void run_stretch(const StepInput& step, const Stretch& stretch, bool first, bool last,
                   const std::function<void()>& progress);
  void ready(std::size_t end);
  void take(const float* gradients, std::size_t begin, std::size_t end, bool first);
  void publish(std::size_t end) { complete_.store(end, std::memory_order_release); }

  const nn::Graph& graph_;
  std::shared_ptr<const nn::ParameterLayout> layout_;
  const float* parameters_;
  const std::byte* working_;  ///< nn::WorkingWeights of the parameters
  const data::BatchLoader& loader_;
  Options options_;
  std::int64_t lane_bytes_per_sample_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::size_t>, nn::Network>
      plans_;  ///< by (lane, lanes, instance)
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Stretch>>
      shapes_;  ///< by (samples, first lane)
  nn::Network* latest_ = nullptr;
  std::unique_ptr<InStep> in_step_;  ///< with moments only
  Targets targets_;
  AlignedBuffer<float> floats_;  ///< sums, or with exact one lane's gradients
  AlignedBuffer<float> later_;   ///< gradients of the second and later stretches, when there are several
  AlignedBuffer<std::int64_t> fixed_;
  float limit_ = 0;  ///< of a term of the fixed-point sum
  bool bad_ = false;

  // Of the stretch under way; `ready_` is made once, so that a step allocates nothing.
  nn::Network::Ready ready_;
  const float* gradients_ = nullptr;
  std::size_t taken_ = 0;
  bool stretch_first_ = false;
  const std::function<void()>* progress_ = nullptr;  ///< null before the last stretch
  std::atomic<std::size_t> complete_{0};
};

}  // namespace convoke::engine

#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/data/batch_loader.hpp"
#include "convoke/engine/model_memory.hpp"
#include "convoke/engine/shares.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/nn/plan/network.hpp"
#include "convoke/nn/plan/parameters.hpp"

namespace convoke::engine {

class WorkQueue;
class MomentsExchange;

/// A segment of micro-batches that one plan runs together: samples [first, first + micro_batch *
/// micro_batches) of the step.
struct MicroBatchSegment {
  std::int64_t first, micro_batch, micro_batches;
};

/// How a worker divides its micro-batches into segments.
struct Cut {
  std::int64_t micro_batch = 0;  ///< samples per micro-batch; the last micro-batch of a step may have fewer
  bool one_by_one = false;       ///< run each micro-batch separately
  std::int64_t plan_bytes = 0;   ///< approximate activation memory of micro-batches that run together
  std::int64_t bytes_per_sample = 1;  ///< bytes of activations, see activation_bytes_per_sample
};

/// Returns the limit, in bytes, of the activations of micro-batches that a worker runs together: 8 to 48 MiB,
/// twelve times the parameters, since every run reads them and adds their gradients to a sum. There is no
/// limit if batch norms are synchronized, because all micro-batches are then active at the same time anyway.
std::int64_t segment_bytes(const nn::Graph& graph);

/// Returns the approximate bytes of activations per sample: the output of every node, and half as much again
/// for gradients.
std::int64_t activation_bytes_per_sample(const nn::Graph& graph, nn::Precision precision);

/// Returns the segments in which a worker runs `micro_batches` of a step of `samples` samples.
std::vector<MicroBatchSegment> micro_batch_segments(std::int64_t samples, MicroBatchRange micro_batches,
                                                    const Cut& cut);

/// Metrics of a step, summed with the gradients: the last elements of the exchanged arena.
enum StepMetric : std::size_t { kLoss = 0, kCorrect = 1, kBad = 2, kFailed = 3, kStepMetrics = 16 };

/// The input of a step, the same for all workers of a rank.
struct StepInput {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::span<const std::uint32_t> samples;  ///< ids of the whole global batch
  std::int64_t micro_batch = 0;            ///< samples per micro-batch; the last micro-batch may be smaller
  std::span<const std::uint32_t> repeats = {};  ///< see data::EpochPlan::repeats
};

/// A term that an exact sum cannot add, since it is not finite, or not below the limit.
struct BadTerm {
  std::string name;  ///< "the gradient of conv2d_1.weight"
  double value = 0, limit = 0;
};

/// Runs the micro-batches of one worker thread through its own plans and sums their gradients. With `exact`
/// it runs micro-batch by micro-batch and sums in 64-bit fixed point, so that the sum does not depend on
/// which worker ran a micro-batch; otherwise it runs neighboring micro-batches together and sums floats.
/// With `moments` all of its micro-batches advance together. Only one thread may use a Worker, and this
/// thread also compiles the plans.
class Worker {
 public:
  struct Options {
    bool exact = false;
    nn::PlanOptions plan;                ///< options of all plans, except micro-batch and micro-batches
    std::int64_t plan_bytes = 0;         ///< approximate activation memory of micro-batches that run together
    MomentsExchange* moments = nullptr;  ///< exchange of synchronized batch norms, if the graph has any
    int worker = 0;                      ///< number of this worker on its rank
    bool overlaps = true;                ///< parts of the sums are used before the run ends
  };
  Worker(const nn::Graph& graph, std::shared_ptr<const nn::ParameterLayout> layout, const float* parameters,
         const std::byte* working, const data::BatchLoader& loader, const WorkerSums& sums, Options options);
  ~Worker();

  /// Runs `micro_batches` of the step and leaves their sums in the worker's arrays. Calls `progress` between
  /// primitives, when complete() may have increased. With a `queue`, which has begun the step,
  /// `micro_batches` are this worker's share: others may compute some of them, and this worker computes some
  /// of others in return.
  void run(const StepInput& step, MicroBatchRange micro_batches, WorkQueue* queue,
           const std::function<void()>& progress);

  /// Returns how many elements of the sums are final in this step; the last elements are the metrics.
  std::size_t complete() const { return sums_.completion->count() - before_; }
  void begin_step() { before_ = sums_.completion->count(); }
  /// Call this after a run() that did not complete the sums. Marks them as complete and records the failure
  /// in the metrics, so that the exchange with the other ranks can end.
  void give_up();

  /// Returns the seconds of the last run, without those in which it waited for other workers or ranks.
  double seconds() const { return seconds_; }
  /// Returns the number of samples of the last run, and of its micro-batches.
  std::int64_t samples() const { return samples_; }
  std::int64_t micro_batches() const { return micro_batches_; }

  /// Call this before a run with other micro-batches than before. The run frees the plans of the old ones.
  void micro_batches_change() { micro_batches_change_ = true; }

  /// Runs the micro-batches again. Returns the first node of the network whose parameters or output are not
  /// finite; "the gradient of conv2d_1.weight" if only a gradient is not finite; or "".
  std::string first_non_finite(const StepInput& step, MicroBatchRange micro_batches);
  /// Returns the first term of the last run that its exact sums could not add, if there was one.
  const std::optional<BadTerm>& bad_term() const { return bad_term_; }

  /// Tells the next runs to keep the digest of the micro-batch that begins with this sample of the step; -1:
  /// none. With `exact` only.
  void watch(std::int64_t first_sample) { watched_ = first_sample; }
  /// The digest of the gradients and the metrics of that micro-batch (digest_of).
  std::uint64_t digest() const { return digest_; }
  /// Computes one micro-batch of the step again, and returns its digest. Overwrites the floats of the sums,
  /// but not the fixed point. With `exact` and without moments only.
  std::uint64_t recompute(const StepInput& step, std::int64_t micro_batch);
  std::size_t plan_bytes() const;

  /// Returns the plan that ran last; null before the first run.
  nn::Network* latest() { return latest_; }

  /// Returns the plan of `micro_batches` micro-batches of `micro_batch` samples, compiled at first use. Plans
  /// of different instances can run at the same time.
  nn::Network& plan(std::int64_t micro_batch, std::int64_t micro_batches, std::size_t instance = 0);

 private:
  /// The targets of a plan's samples.
  struct Targets {
    std::vector<std::int32_t> labels;
    std::vector<float> weights;               ///< empty if the samples have none
    std::vector<std::int32_t> second_labels;  ///< like shares, empty unless samples are mixtures
    std::vector<float> shares;
    std::vector<float> second_weights;  ///< of the second labels' samples; empty like weights or shares
    std::vector<float> soft_labels;     ///< empty if the samples have none
  };
  class Lockstep;

  static data::ViewKey view_of(const StepInput& step, const MicroBatchSegment& segment);
  static nn::StepKey key_of(const StepInput& step, const MicroBatchSegment& segment);
  std::vector<MicroBatchSegment> micro_batch_segments(const StepInput& step, MicroBatchRange micro_batches,
                                                      bool one_by_one) const;
  const std::vector<MicroBatchSegment>& segments_of(const StepInput& step, MicroBatchRange micro_batches,
                                                    bool one_by_one);
  void run_queue(const StepInput& step, const std::vector<MicroBatchSegment>& own, WorkQueue& queue,
                 const std::function<void()>& progress);
  nn::Network& load(const StepInput& step, const MicroBatchSegment& segment, Targets& targets,
                    std::size_t instance = 0);
  void compute_loss(nn::Network& network, const StepInput& step, const Targets& targets, float* gradients);
  void run_segment(const StepInput& step, const MicroBatchSegment& segment, bool last,
                   const std::function<void()>& progress);
  void count(const MicroBatchSegment& segment) {
    micro_batches_ += segment.micro_batches;
    samples_ += segment.micro_batch * segment.micro_batches;
  }
  void clear_sums();
  void ready(std::size_t end);
  std::string first_bad_gradient() const;
  std::uint64_t digest_of_floats() const;
  void take(const float* gradients, std::size_t begin, std::size_t end, bool first);
  void note_bad_term(std::span<const float> values, std::size_t begin);
  void publish(std::size_t end) { sums_.completion->publish(before_ + end); }

  const nn::Graph& graph_;
  std::shared_ptr<const nn::ParameterLayout> layout_;
  const float* parameters_;
  const std::byte* working_;  ///< nn::WorkingWeights of the parameters
  const data::BatchLoader& loader_;
  Options options_;
  std::int64_t micro_batch_bytes_per_sample_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::size_t>, nn::Network>
      plans_;  ///< by (micro-batch, micro-batches, instance)
  std::map<std::tuple<std::int64_t, std::int64_t, bool>, std::vector<MicroBatchSegment>>
      shapes_;  ///< by (samples, first micro-batch, one by one)
  nn::Network* latest_ = nullptr;
  std::unique_ptr<Lockstep> lockstep_;  ///< only with moments
  Targets targets_;
  WorkerSums sums_;             ///< the floats are the sums, or with exact the gradients of one micro-batch
  AlignedBuffer<float> later_;  ///< gradients of the second and later segments, if there are several
  float limit_ = 0;             ///< limit of a term of the fixed-point sum
  std::optional<BadTerm> bad_term_;

  // State of the current segment. `ready_` is made once, so that a step allocates nothing.
  nn::Network::Ready ready_;
  const float* gradients_ = nullptr;
  std::size_t taken_ = 0;
  bool first_segment_ = false;
  const std::function<void()>* progress_ = nullptr;
  bool last_segment_ = false;  ///< known to be
  WorkQueue* queue_ =
      nullptr;  ///< of the current step; null: others compute none of this worker's micro-batches

  std::uint64_t before_ = 0;                      ///< elements that were completed in earlier steps
  double seconds_ = 0;                            ///< of the last run
  std::int64_t samples_ = 0, micro_batches_ = 0;  ///< of the last run
  double waited_ = 0;                             ///< seconds of this run in which it waited for moments
  bool micro_batches_change_ = false;
  std::int64_t watched_ = -1;  ///< first sample of the micro-batch to verify
  std::uint64_t digest_ = 0;   ///< of that micro-batch
};

}  // namespace convoke::engine

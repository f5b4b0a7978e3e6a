#pragma once
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "convoke/engine/worker.hpp"

namespace convoke::engine {

/// How a worker runs its micro-batches if batch norms use the statistics of the whole batch. All of
/// its plans advance together, one plan segment after the other. Between two segments, their moments are
/// summed with those of all other micro-batches of the step (MomentsExchange). Each plan keeps its
/// activations and its own gradients until the step ends.
class Worker::Lockstep {
 public:
  explicit Lockstep(Worker& worker) : worker_(worker) {}

  /// Runs a step as Worker::run does. A worker that fails still takes part in all sums of the step,
  /// because the others wait for it; its moments are then not finite, and it throws at the end. Returns false
  /// if a worker could not begin the first step; then nothing was summed.
  bool run(const StepInput& step, const std::vector<MicroBatchSegment>& micro_batch_segments,
           const std::function<void()>& progress);

 private:
  /// A plan of this worker and the data of its samples.
  struct Member {
    nn::Network* network = nullptr;
    nn::StepKey key;
    Targets targets;
    AlignedBuffer<float> own;    ///< gradients; those of the first plan are in the worker's sums
    float* gradients = nullptr;  ///< layout.gradient_size() + kStepMetrics
    std::span<double> moments;
    std::size_t place = 0;  ///< position in the step
    std::size_t taken = 0;
    nn::Network::Ready ready;
  };
  void start(const StepInput& step, const std::vector<MicroBatchSegment>& micro_batch_segments);
  template <class Work>
  void attempt(const Work& work);
  bool learn_stops(const StepInput& step);
  void exchange(std::size_t moments);
  void compute_losses(const StepInput& step);
  void ready(Member& member, std::size_t end);

  Worker& worker_;
  std::vector<std::unique_ptr<Member>> members_;  ///< by position in the step; never shrinks
  std::size_t count_ = 0;                         ///< members in this step
  const std::function<void()>* progress_ = nullptr;
  std::exception_ptr failure_;                   ///< failure in this step
  bool knows_stops_ = false;                     ///< from the first step on
  std::vector<std::size_t> forward_, backward_;  ///< moments at each stop, equal in all plans
};

}  // namespace convoke::engine

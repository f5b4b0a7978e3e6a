#pragma once
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "convoke/engine/lane_worker.hpp"

namespace convoke::engine {

/// How a worker runs its lanes where batch norms take the statistics of the whole batch: all of its plans
/// advance together, segment by segment, and between two segments their moments are summed with those of all
/// other lanes of the step (MomentsExchange). Each plan keeps its activations, and gradients of its own,
/// until the step is over.
class LaneWorker::InStep {
 public:
  explicit InStep(LaneWorker& worker) : worker_(worker) {}

  /// As LaneWorker::run. A worker that fails keeps taking part in all sums of the step, for which the others
  /// wait, with moments that are not finite, and throws at its end. False: in the first step some worker
  /// could not begin, and nothing was summed.
  bool run(const StepInput& step, const std::vector<Stretch>& stretches,
           const std::function<void()>& progress);

 private:
  /// A plan of this worker's and what belongs to its samples.
  struct Member {
    nn::Network* network = nullptr;
    nn::StepKey key;
    Targets targets;
    AlignedBuffer<float> own;    ///< gradients; of the first they stand where the worker's sums are
    float* gradients = nullptr;  ///< layout.gradient_size() + kTallySize
    std::span<double> moments;
    std::size_t place = 0;  ///< in the step
    std::size_t taken = 0;
    nn::Network::Ready ready;
  };
  void start(const StepInput& step, const std::vector<Stretch>& stretches);
  template <class Work>
  void attempt(const Work& work);
  bool learn_stops(const StepInput& step);
  void exchange(std::size_t moments);
  void judge(const StepInput& step);
  void ready(Member& member, std::size_t end);

  LaneWorker& worker_;
  std::vector<std::unique_ptr<Member>> members_;  ///< by their place in the step; only grows
  std::size_t count_ = 0;                         ///< of members in this step
  const std::function<void()>* progress_ = nullptr;
  std::exception_ptr failure_;                   ///< of this step
  bool knows_stops_ = false;                     ///< from the first step on
  std::vector<std::size_t> forward_, backward_;  ///< moments at each stop, the same in all plans
};

}  // namespace convoke::engine

#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "convoke/core/aligned_buffer.hpp"
#include "convoke/engine/worker_team.hpp"
#include "convoke/nn/plan/parameters.hpp"
#include "convoke/optim/optimizer.hpp"

namespace convoke::engine {

/// Elements [begin, end) of an arena.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

/// Returns part `part` of [0, size) in whole cache lines, so that threads do not share one.
Range slice_of(std::size_t size, int part, int parts);

struct UpdateOptions {
  double clip_value = 0;  ///< every element of the gradient stays within +-clip_value; 0: off
  double clip_norm = 0;   ///< limit of the norm of the gradient of all parameters together; 0: off
  double ema = 0;         ///< decay of the moving average of the parameters, [0, 1); 0: no average
};

/// Updates the parameters from the sums of a step, in this order: adds penalties (ParameterSpec::l1, l2) to
/// the gradient, clips it, runs the optimizer's step, and updates the running statistics. Made once; a step
/// allocates nothing. If all ranks have the same sums, the result depends neither on the number of threads
/// nor on the number of ranks. Owns the optimizer's state.
class Update {
 public:
  /// The sums of a step, layout.size() elements: in fixed point or, if that is empty, as floats. With fixed
  /// point, the floats are computed from it.
  struct Sums {
    std::span<float> floats;
    std::span<const std::int64_t> fixed;
  };

  /// `team` runs the update. All arguments must outlive this object; `parameters` and `sums` keep their
  /// addresses in all steps.
  Update(const nn::ParameterLayout& layout, const UpdateOptions& options, const optim::Optimizer& optimizer,
         std::span<float> parameters, Sums sums, WorkerTeam& team);
  Update(const Update&) = delete;
  Update& operator=(const Update&) = delete;

  /// Makes one update. `step`: its number, from 1. Returns the penalty that belongs to the step's loss,
  /// computed from the parameters before the update.
  double run(double learning_rate, std::int64_t step);

  /// layout.trainable_size() floats.
  std::span<float> state(std::size_t slot) { return states_[slot].span(); }
  /// layout.size() floats; empty without options.ema.
  std::span<float> average() { return average_.span(); }

 private:
  /// A range of parameters that a thread passes to the optimizer in one call.
  struct Part {
    Range range;
    bool is_vector = false;
    double rate_factor = 1;  ///< see nn::ParameterSpec, also for the next
    std::int64_t frozen_steps = 0;
  };
  static Part part_of(const nn::ParameterSlot& slot, Range range);
  /// A piece of one parameter that is summed in one call.
  struct Block {
    Part part;
    double l1 = 0, l2 = 0;
    double penalty = 0;  ///< penalty of the current step
    double squares = 0;  ///< sum of squares of the gradient
  };
  std::vector<Block> cut_blocks() const;
  std::vector<std::vector<Part>> share_out(int threads) const;
  std::vector<std::vector<Part>> whole_parameters(int threads) const;
  std::vector<Part> parts_within(Range range) const;

  void prepare(int thread);
  void apply(int thread);
  void to_floats(Range range);
  void clip(Range range);
  void optimize(const Part& part);
  void update_statistics(Range range);
  void update_average(Range range);

  const nn::ParameterLayout& layout_;
  UpdateOptions options_;
  const optim::Optimizer& optimizer_;
  std::span<float> parameters_;
  Sums sums_;
  WorkerTeam& team_;
  std::vector<AlignedBuffer<float>> states_;
  AlignedBuffer<float> average_;
  std::vector<Block> blocks_;             ///< together they cover all trainable parameters
  std::vector<std::vector<Part>> parts_;  ///< by thread
  bool prepares_;                         ///< there are penalties, or a norm is needed
  std::function<void(int)> prepare_, apply_;

  // State of the current step.
  double learning_rate_ = 0;
  std::int64_t step_ = 0;
  float factor_ = 1;  ///< factor on the gradient
};

}  // namespace convoke::engine

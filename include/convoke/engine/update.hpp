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

/// Part `part` of [0, size) in whole cache lines, so that threads do not share one.
Range slice_of(std::size_t size, int part, int parts);

struct UpdateOptions {
  double clip_value = 0;  ///< every element of the gradient stays within +-clip_value; 0: off
  double clip_norm = 0;   ///< the gradient of all parameters together is at most so long; 0: off
  double ema = 0;         ///< decay of the moving average of the parameters, [0, 1); 0: there is none
};

/// What happens between the sums of a step and the next step, in this order: penalties (ParameterSpec::l1,
/// l2) are added to the gradient, it is clipped, the optimizer takes its step, and the running statistics
/// theirs. Made once; a step allocates nothing. Its result depends neither on the number of threads nor on
/// that of ranks, as long as all ranks have the same sums. Owns the optimizer's state.
class Update {
 public:
  /// The sums of a step, layout.size() elements: as fixed point, or if that is empty as floats. Where there
  /// is fixed point, floats are written from it.
  struct Sums {
    std::span<float> floats;
    std::span<const std::int64_t> fixed;
  };

  /// `team` carries it out. All that is given must outlive this; `parameters` and `sums` are where they are
  /// in every step.
  Update(const nn::ParameterLayout& layout, const UpdateOptions& options, const optim::Optimizer& optimizer,
         std::span<float> parameters, Sums sums, WorkerTeam& team);
  Update(const Update&) = delete;
  Update& operator=(const Update&) = delete;

  /// One update. `step`: its number, from 1. Returns the penalty that belongs to the step's loss, that is of
  /// the parameters before the update.
  double run(double learning_rate, std::int64_t step);

  /// layout.trainable_size() floats.
  std::span<float> state(std::size_t slot) { return states_[slot].span(); }
  /// layout.size() floats; none without options.ema.
  std::span<float> average() { return average_.span(); }

 private:
  /// What a thread hands to the optimizer at once.
  struct Part {
    Range range;
    bool is_vector = false;
    double rate_factor = 1;  ///< see nn::ParameterSpec; so is this
    std::int64_t frozen_steps = 0;
  };
  static Part part_of(const nn::ParameterSlot& slot, Range range);
  /// What is summed at once: a piece of one parameter.
  struct Block {
    Part part;
    double l1 = 0, l2 = 0;
    double penalty = 0;  ///< of the step under way
    double squares = 0;  ///< of the gradient
  };
  std::vector<Block> cut_blocks() const;
  std::vector<std::vector<Part>> share_out(int threads) const;
  std::vector<std::vector<Part>> whole_parameters(int threads) const;
  std::vector<Part> alike_within(Range range) const;

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
  std::vector<Block> blocks_;             ///< together they are all trainable parameters
  std::vector<std::vector<Part>> parts_;  ///< by thread; so are these
  bool prepares_;                         ///< there are penalties, or a norm is needed
  std::function<void(int)> prepare_, apply_;

  // Of the step under way.
  double learning_rate_ = 0;
  std::int64_t step_ = 0;
  float factor_ = 1;  ///< on the gradient
};

}  // namespace convoke::engine

#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "convoke/engine/model_memory.hpp"
#include "convoke/engine/shares.hpp"
#include "convoke/engine/worker_team.hpp"
#include "convoke/nn/plan/parameters.hpp"
#include "convoke/optim/optimizer.hpp"

namespace convoke::engine {

/// The largest number of states of an optimizer. In the rounding of states, the arrays of an update have
/// numbers below it, and those of ModelAverage the next ones.
constexpr std::size_t kMostStates = 4;

struct UpdateOptions {
  double clip_value = 0;  ///< every element of the gradient stays within +-clip_value; 0: off
  double clip_norm = 0;   ///< limit of the norm of the gradient of all parameters together; 0: off
  double ema = 0;         ///< decay of the moving average of the parameters, [0, 1); 0: no average
  /// How memory stores the optimizer's state. kBfloat16 rounds it stochastically, by random numbers of the
  /// seed. Optimizers of Scope::kWholeParameter need kFloat32.
  nn::Precision state_precision = nn::Precision::kFloat32;
};

/// Updates the parameters from the sums of a step, in this order: adds penalties (ParameterSpec::l1, l2) to
/// the gradient, clips it, runs the optimizer's step, and updates the running statistics. The workers of all
/// ranks of a node make the update together, each a part. Made once; a step allocates nothing. If all nodes
/// have the same sums, the result depends neither on the number of threads nor on the number of ranks.
class Update {
 public:
  /// Returns the number of ModelMemory::blocks() that an update of `layout` needs.
  static std::size_t block_count(const nn::ParameterLayout& layout);

  /// `memory` has the parameters, the optimizer's state, and the sums of a step in the arrays of its first
  /// worker: in fixed point or, if that is empty, as floats. With fixed point, the floats are computed from
  /// it. All arguments must outlive this object. `seed`: of the rounding of states.
  Update(const nn::ParameterLayout& layout, const UpdateOptions& options, std::uint64_t seed,
         const optim::Optimizer& optimizer, const ModelMemory& memory, NodeTeam& team);
  Update(const Update&) = delete;
  Update& operator=(const Update&) = delete;

  /// Makes one update; collective over the node. `step`: its number, from 1. Returns the penalty that belongs
  /// to the step's loss, computed from the parameters before the update.
  double run(double learning_rate, std::int64_t step);

  /// Counts a step without samples: parameters and states stay the same, and the average takes the parameters
  /// once more. For an engine of one rank.
  void skip(std::int64_t step);

  /// Sets the optimizer's state to 0. The next update, number `steps_done` + 1, is the first one that the
  /// optimizer counts.
  void reset_states(std::int64_t steps_done);

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
  };
  static std::vector<Block> cut_blocks(const nn::ParameterLayout& layout);
  std::vector<std::vector<Part>> share_out(int workers) const;
  std::vector<std::vector<Part>> whole_parameters(int workers) const;
  std::vector<Part> parts_within(Range range) const;

  void prepare(int worker);
  void apply(int worker);
  void to_floats(Range range);
  void clip(Range range);
  void update_piece(const Part& part);
  /// `parameters`: those of `part`, which may be a copy of them.
  void update_piece(const Part& part, std::span<float> parameters);
  void optimize(const Part& part, std::span<float> parameters);
  void update_statistics(Range range);
  /// `parameters`: those from `begin` on.
  void update_average(std::size_t begin, std::span<const float> parameters);
  void copy_frozen_to_average();

  const nn::ParameterLayout& layout_;
  UpdateOptions options_;
  std::uint64_t seed_;
  const optim::Optimizer& optimizer_;
  const ModelMemory& memory_;
  NodeTeam& team_;
  std::span<float> parameters_;
  std::span<float> gradients_;            ///< the sums as floats
  std::span<const std::int64_t> fixed_;   ///< the sums in fixed point, if there are any
  std::vector<Block> blocks_;             ///< together they cover all trainable parameters
  std::vector<std::vector<Part>> parts_;  ///< by worker of the node
  std::size_t piece_floats_;              ///< a part is updated in pieces of at most so many floats
  bool prepares_;                         ///< there are penalties, or a norm is needed
  std::function<void(int)> prepare_, apply_;

  std::int64_t uncounted_ = 0;  ///< steps before the state was reset

  // State of the current step.
  double learning_rate_ = 0;
  std::int64_t step_ = 0;
  float factor_ = 1;  ///< factor on the gradient
};

}  // namespace convoke::engine

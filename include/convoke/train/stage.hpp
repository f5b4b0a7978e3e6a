#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/nn/graph.hpp"

namespace convoke::train {

/// A stage of fine-tuning: from an epoch on, more of the network is trained, at another learning rate
/// (gradual unfreezing: Howard and Ruder, "Universal language model fine-tuning", 2018).
struct Stage {
  std::int64_t epoch = 2;             ///< first epoch of the stage, counted from 1; at least 2
  std::vector<std::string> unfreeze;  ///< patterns, as in nn::freeze(); may be empty
  double learning_rate = 0;           ///< the base rate from this epoch on; 0: unchanged

  /// Reads { epoch = 5, unfreeze = ["layer4*"], learning_rate = 1e-4 }. Throws Error for a value out of
  /// range, or if the stage changes nothing.
  static Stage read(const Settings& settings);
  Settings settings() const;
  /// The keys of the recipe table.
  static std::vector<OptionTable> tables();
};

/// Returns how many of `stages` (ascending by epoch) have begun when `epochs_done` epochs are complete.
std::size_t stages_begun(std::span<const Stage> stages, std::int64_t epochs_done);

/// Returns `graph` as it is trained once `stages` have begun. The optimizer counts the steps of unfrozen
/// nodes from their stage on: they are frozen for `steps_per_epoch` steps in each epoch before. Throws Error
/// for a pattern that matches no node, or no frozen node.
nn::Graph unfrozen_by(std::span<const Stage> stages, nn::Graph graph, std::int64_t steps_per_epoch);

/// Returns the base learning rate once `stages` have begun; `first` if none has.
double learning_rate_after(std::span<const Stage> stages, double first);

}  // namespace convoke::train

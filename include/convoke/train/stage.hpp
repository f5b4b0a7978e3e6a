#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/nn/graph.hpp"

namespace convoke::train {

/// What changes at the beginning of an epoch of staged fine-tuning: more of the network is trained, at
/// another rate (Howard and Ruder, "Universal language model fine-tuning", 2018, unfreeze gradually).
struct Stage {
  std::int64_t epoch = 2;             ///< the first of the stage, counted from 1; at least 2
  std::vector<std::string> unfreeze;  ///< patterns, as of nn::freeze(); may be empty
  double learning_rate = 0;           ///< the base rate from here on; 0: as before

  /// Reads { epoch = 5, unfreeze = ["layer4*"], learning_rate = 1e-4 }. Throws Error for what is out of range
  /// or changes nothing.
  static Stage read(const Settings& settings);
  Settings settings() const;
  /// The keys of such a table.
  static std::vector<OptionTable> tables();
};

/// How many of `stages` (by rising epoch) have begun when `epochs_done` epochs are complete.
std::size_t stages_begun(std::span<const Stage> stages, std::int64_t epochs_done);

/// `graph` as it is trained once `stages` have begun. The optimizer counts the steps of what they unfreeze
/// from the stage on: it is frozen for `steps_per_epoch` in each epoch before. Throws Error for a pattern
/// that names nothing, or nothing that is frozen.
nn::Graph unfrozen_by(std::span<const Stage> stages, nn::Graph graph, std::int64_t steps_per_epoch);

/// The base rate once `stages` have begun, `first` without any.
double learning_rate_after(std::span<const Stage> stages, double first);

}  // namespace convoke::train

#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/run/best_models.hpp"

namespace convoke::train {

/// As in Keras, but recipes must state the patience, and restore the best weights unless they say otherwise.
struct EarlyStoppingOptions {
  std::string monitor = "validation_loss";  ///< or "validation_accuracy"
  std::int64_t patience =
      -1;                ///< training stops after this many evaluations without improvement, >= 0; -1: never
  double min_delta = 0;  ///< an improvement must be larger than this, >= 0
  bool restore_best = false;  ///< keep the best weights, not the last
};

/// Decides which validation is the best so far, and stops training when the validations do not improve for a
/// while, as Keras' EarlyStopping does. Holds options only.
class EarlyStopping {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options = {}) : options_(std::move(options)) {}
  /// Reads { monitor = "validation_loss", patience = 5, min_delta = 0, restore_best = true }; an empty table:
  /// never stop. Throws Error for an unknown key or monitor, a value out of range, and a missing patience.
  static EarlyStopping read(const Settings& settings);

  /// Records a validation after `updates` steps. Returns true if it is the best so far; a validation whose
  /// loss is not finite never is. May set `best.stopped`.
  bool record(const engine::Score& score, std::int64_t updates, run::BestSoFar& best) const;

  /// Returns the monitored value as a cost (less is better); infinite if the loss is not finite.
  double cost(double loss, double accuracy) const;

  bool stops() const { return options_.patience >= 0; }
  bool restores_best() const { return options_.restore_best; }
  const std::string& monitor() const { return options_.monitor; }
  /// Returns the options from which read() makes an equal object; empty if training never stops early.
  Settings settings() const;
  /// The keys of the recipe table.
  static std::vector<OptionTable> tables();

 private:
  EarlyStoppingOptions options_;
};

}  // namespace convoke::train

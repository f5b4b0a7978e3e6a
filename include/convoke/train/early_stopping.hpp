#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/run/best_so_far.hpp"

namespace convoke::train {

/// Names and defaults are Keras', but for its "val_" and the patience, which it has at 0.
struct EarlyStoppingOptions {
  std::string monitor = "validation_loss";  ///< or "validation_accuracy"
  std::int64_t patience =
      -1;                ///< evaluations without a better one before training stops, >= 0; -1: it never does
  double min_delta = 0;  ///< what a better one must be better by, >= 0: by more than this
  bool restore_best = false;  ///< the best weights are kept, not the last
};

/// Says which validation is the best so far, and ends training when none has been for a while: Keras'
/// EarlyStopping. Holds options only.
class EarlyStopping {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options = {}) : options_(std::move(options)) {}
  /// { monitor = "validation_loss", patience = 5, min_delta = 0, restore_best = true }; an empty table:
  /// never. Throws Error for an unknown key or monitor, a value out of range, and without patience.
  static EarlyStopping read(const Settings& settings);

  /// Takes a validation after `updates` steps into account: true if it is the best so far, which one whose
  /// loss is not finite never is. May set `best.stopped`.
  bool judge(const engine::Score& score, std::int64_t updates, run::BestSoFar& best) const;

  /// What is monitored, such that less is better; infinite where the loss is not finite.
  double cost(double loss, double accuracy) const;

  bool stops() const { return options_.patience >= 0; }
  bool restores_best() const { return options_.restore_best; }
  const std::string& monitor() const { return options_.monitor; }
  /// The options, such that read() makes an equal one; empty if it never stops.
  Settings settings() const;
  /// The keys of such a table.
  static std::vector<OptionTable> tables();

 private:
  EarlyStoppingOptions options_;
};

}  // namespace convoke::train

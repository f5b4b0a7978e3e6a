#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"

namespace convoke::sync {

/// What happens to the optimizer's state when the ranks average their models.
enum class StateRule {
  kAverage,  ///< it is averaged, as the parameters are
  kReset,    ///< it is set to 0, and the optimizer counts its steps from there
  kKeep,     ///< each rank keeps its own
};

/// When the ranks of a group that trains one model exchange gradients or models. All that it answers is a
/// function of the recipe and of the position in training, so a restart needs no state. Every strategy
/// averages the models, if they differ, at the end of an epoch and before a validation, so that what is
/// evaluated and stored is one model.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// True if the gradients of all ranks are summed in every step of `epoch` (from 0), so that their models
  /// stay equal. Otherwise each rank makes its own update, from the mean gradient of its share of the batch.
  virtual bool sums_gradients(std::int64_t epoch) const = 0;
  /// True if the models are averaged after step `step` (from 1) of an epoch that sums no gradients.
  virtual bool averages_after(std::int64_t epoch, std::int64_t step) const = 0;
  virtual StateRule state_rule() const { return StateRule::kAverage; }
  /// Returns the momentum of averages, [0, 1): with the mean m_t of the models after round t, the ranks go on
  /// from x_t = m_t + momentum (x_{t-1} - x_{t-2}), for trained parameters (Chen and Huo, "Scalable training
  /// of deep learning machines by incremental block training", 2016, BMUF; Wang et al., "SlowMo", 2020).
  virtual double momentum() const { return 0; }
  /// Returns the options with "name", from which the table makes an equal strategy.
  virtual Settings settings() const = 0;
};

/// Makes a strategy from { name = "local-sgd", every = 8 }. An empty table means "allreduce". Throws Error
/// for an unknown name, key or value.
std::unique_ptr<const Strategy> make_strategy(const Settings& settings);

/// Returns the options of each strategy.
std::vector<OptionTable> strategy_tables();

}  // namespace convoke::sync

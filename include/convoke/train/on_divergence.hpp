#pragma once
#include <cstdint>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/mpi/together.hpp"

namespace convoke::train {

/// The loss of a step, its gradient or a parameter is not finite. Names step, layer and rank where they are
/// known, and the last good checkpoint; the same on all ranks of the group.
struct Divergence : mpi::GroupError {
  using GroupError::GroupError;
};

/// The reaction when the training of a model diverges.
struct OnDivergence {
  enum class Action {
    kStop,        ///< the job ends with an error
    kRestore,     ///< training goes back to the newest checkpoint, with a lower learning rate
    kDropMember,  ///< the member of an ensemble does not vote; a single model ends the job
  };
  Action action = Action::kDropMember;
  double factor = 0.5;     ///< kRestore: the learning rate is multiplied by it, (0, 1)
  std::int64_t times = 3;  ///< kRestore: after so many restores, the next divergence counts as kDropMember

  /// Reads { name = "restore", factor = 0.5, times = 3 }; an empty table: the default. Throws Error for an
  /// unknown name or key, and for a value out of range.
  static OnDivergence read(const Settings& settings);
  /// Returns the options from which read() makes an equal object.
  Settings settings() const;
  /// The keys of the recipe table, by name.
  static std::vector<OptionTable> tables();
};

}  // namespace convoke::train

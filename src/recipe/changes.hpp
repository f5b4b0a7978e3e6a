#pragma once
#include <string>

#include "convoke/core/settings.hpp"

namespace convoke::recipe {

/// Applies one "key=value" of the command line, e.g. "train.optimizer.learning_rate=0.01". Changed values get
/// the argument as their place. Throws Error if the text is not key=value, and for layers, which have no key.
void apply_change(Settings& document, const std::string& change);

}  // namespace convoke::recipe

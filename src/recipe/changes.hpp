#pragma once
#include <string>

#include "convoke/recipe/toml.hpp"

namespace convoke::recipe {

/// Applies one "key=value" of the command line, e.g. "train.optimizer.learning_rate=0.01". The places of what
/// it touches then name it. Throws Error for what is no key=value, and for layers, which have no key.
void apply_change(TomlDocument& document, const std::string& change);

}  // namespace convoke::recipe

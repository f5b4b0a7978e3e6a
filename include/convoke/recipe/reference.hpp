#pragma once
#include <string>
#include <vector>

namespace convoke::recipe {

/// Returns tables of all recipe keys as Markdown, made from the entries of the keys: a part of
/// docs/recipes.md.
std::string key_reference();

/// Returns the paths of the keys that decide the result of a run (Effect), such as "train.optimizer".
std::vector<std::string> keys_of_result();

}  // namespace convoke::recipe

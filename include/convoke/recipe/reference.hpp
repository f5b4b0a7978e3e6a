#pragma once
#include <string>

namespace convoke::recipe {

/// Returns tables of all recipe keys as Markdown, made from the entries of the keys: a part of
/// docs/recipes.md.
std::string key_reference();

}  // namespace convoke::recipe

#pragma once
#include <string>

namespace convoke::recipe {

/// The tables of all keys of a recipe, from the keys' own entries, as Markdown: a part of docs/recipes.md.
std::string key_reference();

}  // namespace convoke::recipe

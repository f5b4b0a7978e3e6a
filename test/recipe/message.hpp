#pragma once
#include <string>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/recipe/recipe.hpp"

struct Message {
  std::string what, hint;
};

/// Returns the error and the hint for a recipe.
inline Message message_of(const std::string& text, const std::vector<std::string>& changes = {},
                          const std::string& file = "recipe.toml") {
  try {
    convoke::recipe::Recipe::parse(text, file, changes);
  } catch (const convoke::Error& error) {
    return {error.what(), error.hint()};
  }
  return {"no error", ""};
}

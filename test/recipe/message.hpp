#pragma once
#include <string>
#include <vector>

#include "convoke/recipe/recipe.hpp"
#include "support/error_of.hpp"

struct Message {
  std::string what, hint;
};

/// Returns the error and the hint for a recipe; empty if there is none.
inline Message message_of(const std::string& text, const std::vector<std::string>& changes = {},
                          const std::string& file = "recipe.toml") {
  const convoke::Error error = thrown_by([&] { convoke::recipe::Recipe::parse(text, file, changes); });
  return {error.what(), error.hint()};
}

#include "changes.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "convoke/recipe/toml.hpp"

namespace convoke::recipe {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

void apply_change(Settings& document, const std::string& change) {
  const std::string place = "--set " + change;
  const std::size_t equals = change.find('=');
  if (equals == std::string::npos)
    throw Error(place + ": expected key=value", "for example --set train.epochs=1");
  const std::string_view key = trimmed(std::string_view(change).substr(0, equals));
  if (key.starts_with("model.layers")) {
    throw Error(place + ": layers cannot be changed from the command line",
                "copy the recipe, change its layers = [...] and pass the path of the copy");
  }
  const std::string text(trimmed(std::string_view(change).substr(equals + 1)));
  try {
    document.set_path(key, parse_value(text, place), place);
  } catch (const Error& error) {
    throw Error(place + ": " + error.what(), error.hint());
  }
}

}  // namespace convoke::recipe

#include "changes.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"

namespace convoke::recipe {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Applies one change to the tables along its path.
struct Change {
  TomlDocument& document;
  std::string place;  // "--set train.epochs=1"
  Value value;

  // `table`: the table at `prefix`; `path`: the path of the value in it.
  Settings in(Settings table, std::string_view path, const std::string& prefix) {
    const std::size_t dot = path.find('.');
    const std::string_view head = path.substr(0, dot);
    if (head.empty()) throw Error(place + ": a key is empty", "for example --set train.epochs=1");
    const std::string full = prefix + std::string(head);
    if (dot == std::string_view::npos) {
      forget(full);
      document.places[full] = place;
      table.set(head, value);
    } else {
      table.set(head, in(inner(table.find(head), full), path.substr(dot + 1), full + "."));
    }
    return table;
  }

  // Returns the table at `full`, created if it is missing, and marked as touched by this change.
  Settings inner(const Value* present, const std::string& full) {
    Settings table;
    if (present == nullptr) {
      document.places[full] = place;
      table.set_where(place);
      return table;
    }
    if (const auto* name = std::get_if<std::string>(&present->data())) {
      table.set("name", *name);  // optimizer = "adam" is short for optimizer = { name = "adam" }
      table.set_where(document.place(full));
    } else if (present->table() != nullptr) {
      table = *present->table();
    } else {
      throw Error(fmt::format("{}: \"{}\" is {}, not a table with keys", place, full, present->kind()));
    }
    // Sections are read key by key, each with its own place; deeper tables are read as a whole and name all
    // their places.
    if (full.find('.') != std::string::npos) table.set_where(fmt::format("{}, {}", table.where(), place));
    return table;
  }

  void forget(const std::string& full) {
    std::erase_if(document.places, [&](const auto& entry) { return entry.first.starts_with(full + "."); });
  }
};

}  // namespace

void apply_change(TomlDocument& document, const std::string& change) {
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
  Change at{document, place, parse_value(text, place)};
  document.settings = at.in(document.settings, key, "");
}

}  // namespace convoke::recipe

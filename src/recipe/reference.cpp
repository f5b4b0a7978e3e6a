#include "convoke/recipe/reference.hpp"

#include <fmt/format.h>

#include "sections.hpp"

namespace convoke::recipe {
namespace {

std::string code(const std::string& text) { return text.empty() ? "" : fmt::format("`{}`", text); }

// Returns a default: TOML, or words for a default that depends on other values.
std::string default_text(const KeyDescription& key) {
  if (key.required) return "required";
  const bool words = key.fallback.find(' ') != std::string::npos && key.fallback.find_first_of("[{") != 0;
  return words ? key.fallback : code(key.fallback);
}

void add_row(std::string& out, const std::string& table, const KeyDescription& key) {
  out += fmt::format("| {}`{}` | {} | {} | {} | {} | {} |\n", table, key.name, key.type, default_text(key),
                     key.range, key.effect == Effect::kNone ? "" : "yes", key.help);
}

constexpr const char* kColumns = "type | default | allowed | result | meaning |\n";

// Writes the keys of the tables that a key accepts, each with the name of its table.
void add_tables(std::string& out, const std::string& path, const KeyDescription& key) {
  const std::vector<OptionTable> tables = key.tables();
  const bool named = tables.size() > 1;
  out += fmt::format("\n### `{}`\n\n| {}key | {}|---|{}---|---|---|---|---|\n", path,
                     named ? key.name + " | " : "", kColumns, named ? "---|" : "");
  for (const OptionTable& table : tables) {
    const std::string name = table.name.empty() ? "all | " : fmt::format("`{}` | ", table.name);
    for (const KeyDescription& option : table.keys) add_row(out, named ? name : "", option);
    if (table.keys.empty()) out += fmt::format("| {} | | | | | | |\n", name.substr(0, name.size() - 3));
  }
}

}  // namespace

std::string key_reference() {
  std::string out;
  for (const Section& section : sections()) {
    const std::vector<KeyDescription> keys = section.keys();
    out += fmt::format("{}## {}\n\n{}\n\n| key | {}|---|---|---|---|---|---|\n", out.empty() ? "" : "\n",
                       section.name.empty() ? "At the top" : fmt::format("`[{}]`", section.name),
                       section.about, kColumns);
    for (const KeyDescription& key : keys) add_row(out, "", key);
    for (const KeyDescription& key : keys) {
      if (key.tables != nullptr) add_tables(out, section.path(key.name), key);
    }
  }
  return out;
}

std::vector<std::string> keys_of_result() {
  std::vector<std::string> paths;
  for (const Section& section : sections()) {
    for (const KeyDescription& key : section.keys()) {
      if (key.effect != Effect::kNone) paths.push_back(section.path(key.name));
    }
  }
  return paths;
}

}  // namespace convoke::recipe

#include "convoke/nn/layer_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "convoke/core/table.hpp"

namespace convoke::nn {
namespace {

/// True if the default is not TOML, but words, because it depends on other keys.
bool in_words(const KeyDescription& key) {
  return key.fallback.find_first_of("\"[{0123456789") != 0 && key.fallback != "true" &&
         key.fallback != "false";
}

/// Returns "whole number, at least 1", or the allowed words.
std::string kind_of(const KeyDescription& key) {
  if (key.range.empty()) return key.type;
  return key.type == "text" ? key.range : key.type + ", " + key.range;
}

/// Returns each family with its layers, in the order of their first layers.
std::vector<std::pair<std::string, std::vector<LayerHelp>>> families() {
  std::vector<std::pair<std::string, std::vector<LayerHelp>>> families;
  for (const char* const name : {"convolution", "pooling", "normalization", "activation", "regularization",
                                 "recurrent", "merging", "structure"}) {
    families.emplace_back(name, std::vector<LayerHelp>{});
  }
  for (LayerHelp& layer : layer_guide()) {
    auto family = std::find_if(families.begin(), families.end(),
                               [&](const auto& known) { return known.first == layer.family; });
    if (family == families.end()) family = families.insert(family, {layer.family, {}});
    family->second.push_back(std::move(layer));
  }
  return families;
}

std::string heading(std::string family) {
  family[0] = static_cast<char>(std::toupper(family[0]));
  return family;
}

/// Returns text for a terminal, without code marks.
std::string plain(std::string text) {
  std::erase(text, '`');
  return text;
}

std::string key_rows(const std::vector<KeyDescription>& keys) {
  std::string rows;
  for (const KeyDescription& key : keys) {
    const std::string fallback = key.required    ? "required"
                                 : in_words(key) ? key.fallback
                                                 : fmt::format("`{}`", key.fallback);
    rows += fmt::format("| `{}` | {} | {} | {} |\n", key.name, kind_of(key), fallback, key.help);
  }
  return rows;
}

constexpr const char* kHeader = "| layer, key | type | default | meaning |\n|---|---|---|---|\n";

}  // namespace

std::string list_layers() {
  std::string text;
  for (const auto& [family, layers] : families()) {
    text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", heading(family));
    for (const LayerHelp& layer : layers) text += fmt::format("  {:<24}{}\n", layer.name, plain(layer.help));
  }
  return text;
}

std::string describe_layer(const std::string& name) {
  const std::vector<LayerHelp> guide = layer_guide();
  const LayerHelp& layer = find_in(guide, name, "layer");
  std::string text = fmt::format("{}: {}\n", layer.name, plain(layer.help));
  const auto add = [&](const char* title, const std::vector<KeyDescription>& keys) {
    if (keys.empty()) return;
    text += fmt::format("\n{}:\n", title);
    for (const KeyDescription& key : keys) {
      text +=
          fmt::format("  {:<18}{}{}\n{:<20}{}\n", key.name, plain(key.help),
                      key.required ? " (required)" : " (default: " + key.fallback + ")", "", kind_of(key));
    }
  };
  add("Its keys", layer.keys);
  add("Keys of every layer", common_layer_keys());
  return text;
}

std::string layer_reference() {
  std::string text = fmt::format("### Keys of every layer\n\n{}{}", kHeader, key_rows(common_layer_keys()));
  for (const auto& [family, layers] : families()) {
    text += fmt::format("\n### {}\n\n{}", heading(family), kHeader);
    for (const LayerHelp& layer : layers) {
      text += fmt::format("| **`{}`** | | | {} |\n", layer.name, layer.help);
      text += key_rows(layer.keys);
    }
  }
  return text;
}

}  // namespace convoke::nn

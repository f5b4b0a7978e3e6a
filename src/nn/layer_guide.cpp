#include "convoke/nn/layer_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "convoke/core/table.hpp"

namespace convoke::nn {
namespace {

std::string fallback_of(const LayerKey& key) {
  if (key.required) return "required";
  return key.fallback ? key.fallback->to_string() : "";
}

/// Returns each family with its layers, in the order of their first layers.
std::vector<std::pair<std::string, std::vector<LayerHelp>>> families() {
  std::vector<std::pair<std::string, std::vector<LayerHelp>>> families;
  for (const char* const name : {"convolution", "pooling", "normalisation", "activation", "regularisation",
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

std::string key_rows(const std::vector<LayerKey>& keys) {
  std::string rows;
  for (const LayerKey& key : keys) {
    const std::string fallback = fallback_of(key);
    const std::string shown = key.required || fallback.empty() ? fallback : fmt::format("`{}`", fallback);
    rows += fmt::format("| `{}` | {} | {} | {} |\n", key.name, key.kind, shown, key.help);
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
  const auto add = [&](const char* title, const std::vector<LayerKey>& keys) {
    if (keys.empty()) return;
    text += fmt::format("\n{}:\n", title);
    for (const LayerKey& key : keys) {
      const std::string fallback = fallback_of(key);
      text += fmt::format("  {:<18}{}{}\n{:<20}{}\n", key.name, plain(key.help),
                          key.required       ? " (required)"
                          : fallback.empty() ? ""
                                             : " (default: " + fallback + ")",
                          "", key.kind);
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

#include "reference/layer.hpp"

#include <algorithm>
#include <array>

#include "convoke/core/settings.hpp"
#include "reference/sequence.hpp"

namespace reference {
namespace {

/// One line per layer; the functions stand in files by kind beside this one.
constexpr std::array kLayers{
    LayerEntry{"embedding", embedding},
    LayerEntry{"gru", gru},
    LayerEntry{"lstm", lstm},
};

}  // namespace

double Call::number(std::string_view setting, double fallback) const {
  return convoke::SettingsReader(settings, "reference").get(setting, fallback);
}

std::string Call::text(std::string_view setting) const {
  return convoke::SettingsReader(settings, "reference").get(setting, std::string());
}

std::pair<std::int64_t, std::int64_t> Call::pair(std::string_view setting) const {
  const auto list = convoke::SettingsReader(settings, "reference").get(setting, std::vector<std::int64_t>{1});
  return {list.front(), list.back()};
}

const LayerEntry* find_layer(std::string_view type) {
  const auto it = std::find_if(kLayers.begin(), kLayers.end(),
                               [&](const LayerEntry& entry) { return entry.type == type; });
  return it == kLayers.end() ? nullptr : &*it;
}

}  // namespace reference

#include "interop/sound_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/canonical.hpp"

namespace convoke::interop {
namespace {

// What the layer adds to a variance before it takes the root.
double epsilon_of(const nn::Node& node) {
  const Settings settings = node.layer->settings();
  SettingsReader read(settings, node.name);
  return read.get("epsilon", 0.0);
}

std::string values_text(std::ptrdiff_t count, std::size_t of) {
  const auto all = static_cast<std::int64_t>(of);
  return fmt::format("{} of {} {}", format_count(count), format_count(all), plural(all, "value"));
}

}  // namespace

std::vector<std::string> require_sound(const nn::Graph& graph, std::span<const float> values,
                                       const std::string& file) {
  std::vector<std::string> bad, notes;
  for (const engine::CanonicalParameter& parameter : engine::canonical_parameters(graph)) {
    const std::span<const float> own = values.subspan(parameter.offset, parameter.size());
    const auto count = [&](auto test) { return std::ranges::count_if(own, test); };
    const std::ptrdiff_t broken = count([](float v) { return !std::isfinite(v); });
    if (broken > 0) {
      bad.push_back(fmt::format("{} ({} not finite)", parameter.name, values_text(broken, own.size())));
      continue;
    }
    if (!parameter.name.ends_with("running_variance")) continue;
    const std::ptrdiff_t negative = count([](float v) { return v < 0; });
    if (negative == 0) continue;
    const double epsilon =
        epsilon_of(graph.node(graph.find(parameter.name.substr(0, parameter.name.rfind('.')))));
    const float least = *std::ranges::min_element(own);
    const std::string text =
        fmt::format("{} negative, the least {:.3g}", values_text(negative, own.size()), least);
    if (static_cast<double>(least) + epsilon > 0) {
      notes.push_back(fmt::format("{} is a variance with {}; with epsilon {:.3g} it is positive",
                                  parameter.name, text, epsilon));
    } else {
      bad.push_back(fmt::format("{} ({})", parameter.name, text));
    }
  }
  if (bad.empty()) return notes;
  constexpr std::size_t kShown = 6;
  const std::string more = bad.size() > kShown ? fmt::format(" and {} more", bad.size() - kShown) : "";
  bad.resize(std::min(bad.size(), kShown));
  throw Error(
      fmt::format("{}: has weights with which the network gives NaN: {}{}", file, join(bad), more),
      "the training that wrote the file diverged, or the file is damaged: take an earlier checkpoint");
}

}  // namespace convoke::interop

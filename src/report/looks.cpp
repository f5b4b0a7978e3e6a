#include "convoke/report/looks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "convoke/report/html.hpp"

namespace convoke::report {
namespace {

// Channels of pictures have the colour that they are.
constexpr std::array kChannels{std::pair{"blue", 0}, std::pair{"red", 1}, std::pair{"green", 8},
                               std::pair{"grey", 9}};

std::string colours_json(const char* Tone::*which) {
  std::string json;
  for (const Tone& tone : kPalette) json += fmt::format("{}\"{}\"", json.empty() ? "" : ",", tone.*which);
  return "[" + json + "]";
}

}  // namespace

// Each name takes the first look that none has which it shares a figure with: a colouring of the graph of
// names, those that appear first being first.
Looks::Looks(std::span<const Chart> charts) {
  std::vector<std::string> order;
  std::map<std::string, std::set<std::string>> beside;
  std::map<std::string, std::string> apart;
  for (const Chart& chart : charts) {
    std::vector<std::string> names = chart.names();
    for (const auto& [name, other] : chart.apart)
      names.push_back(other);  // whose colour is nobody else's, drawn or not
    for (const std::string& name : names) {
      if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
      beside[name].insert(names.begin(), names.end());
    }
    apart.insert(chart.apart.begin(), chart.apart.end());
    if (chart.kind != Chart::Kind::kHistogram) continue;
    for (const auto& [channel, number] : kChannels) {
      if (beside.contains(channel)) looks_[channel] = {static_cast<std::size_t>(number)};
    }
  }
  const auto take_from = [&](const std::string& name, Look look) {
    const auto taken = [&](const std::string& other) {
      const auto known = looks_.find(other);
      return known != looks_.end() && known->second == look;
    };
    while (std::any_of(beside[name].begin(), beside[name].end(), taken)) ++look.number;
    looks_.emplace(name, look);
  };
  for (const std::string& name : order) {
    if (!looks_.contains(name) && !apart.contains(name)) take_from(name, {});
  }
  for (const std::string& name : order) {
    if (looks_.contains(name)) continue;
    const auto other = looks_.find(apart[name]);
    take_from(name, {other == looks_.end() ? 0 : other->second.number, true});
  }
}

std::vector<Look> Looks::of(const Chart& chart) const {
  std::vector<Look> looks;
  for (const std::string& name : chart.names()) looks.push_back(looks_.at(name));
  return looks;
}

std::string Looks::json() const {
  std::string series;
  for (const auto& [name, look] : looks_) {
    series += fmt::format("{}{}:{{\"number\":{},\"apart\":{}}}", series.empty() ? "" : ",", json_string(name),
                          look.number, look.apart);
  }
  return fmt::format("{{\"light\":{},\"dark\":{},\"series\":{{{}}}}}", colours_json(&Tone::on_light),
                     colours_json(&Tone::on_dark), series);
}

}  // namespace convoke::report

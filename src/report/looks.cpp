#include "convoke/report/looks.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "convoke/core/settings.hpp"
#include "convoke/metrics/json.hpp"

namespace convoke::report {
namespace {

// Channels of pictures have the colour that they are.
constexpr std::array kChannels{std::pair{"blue", 0}, std::pair{"red", 1}, std::pair{"green", 8},
                               std::pair{"grey", 9}};

Value::Array colours(const char* Tone::*which) {
  Value::Array all;
  for (const Tone& tone : kPalette) all.emplace_back(tone.*which);
  return all;
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
  Settings series;
  for (const auto& [name, look] : looks_) {
    series.set(name, Settings{{"number", static_cast<std::int64_t>(look.number)}, {"apart", look.apart}});
  }
  std::string json = metrics::to_json({{"light", colours(&Tone::on_light)},
                                       {"dark", colours(&Tone::on_dark)},
                                       {"series", std::move(series)}});
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;) json.replace(at, 1, "\\u003c");
  return json;
}

}  // namespace convoke::report

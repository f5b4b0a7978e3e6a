#include "convoke/data_prep/assumption.hpp"

#include <algorithm>

#include "convoke/core/text.hpp"
#include "preparation_json.hpp"

namespace convoke::data_prep {
namespace {

Json to_json(const Assumption& assumption) {
  Json json{{"what", assumption.what}, {"taken", assumption.taken}};
  if (!assumption.why.empty()) json["why"] = assumption.why;
  if (!assumption.option.empty()) json["option"] = assumption.option;
  if (assumption.doubtful) json["doubtful"] = true;
  return json;
}

}  // namespace

std::string to_text(std::span<const Assumption> assumptions) {
  std::size_t width = 0;
  for (const Assumption& assumption : assumptions) width = std::max(width, assumption.what.size());
  std::string text;
  for (const Assumption& assumption : assumptions) {
    std::string line = assumption.taken;
    if (!assumption.why.empty()) line += ": " + assumption.why;
    if (!assumption.option.empty()) line += " (" + assumption.option + ")";
    text += fmt::format("  {:<{}}  {}{}\n", one_line(assumption.what), width,
                        assumption.doubtful ? "warning: " : "", one_line(line));
  }
  return text;
}

std::string to_json(std::span<const Assumption> assumptions) {
  if (assumptions.empty()) return {};
  Json list = Json::array();
  for (const Assumption& assumption : assumptions) list.push_back(to_json(assumption));
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<Assumption> assumptions_from(const std::string& json, const std::string& where) {
  std::vector<Assumption> found;
  if (json.empty()) return found;
  try {
    const Json list = Json::parse(json);
    for (const Json& stored : list) {
      found.push_back({.what = stored.at("what").get<std::string>(),
                       .taken = stored.at("taken").get<std::string>(),
                       .why = stored.value("why", ""),
                       .option = stored.value("option", ""),
                       .doubtful = stored.value("doubtful", false)});
    }
  } catch (const Json::exception& e) {
    throw Error(fmt::format("{}: its assumptions are damaged: {}", where, e.what()));
  }
  return found;
}

}  // namespace convoke::data_prep

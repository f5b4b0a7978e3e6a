#include "convoke/data_prep/preparation.hpp"

#include <array>
#include <string_view>

#include "preparation_json.hpp"

namespace convoke::data_prep {
namespace {

Json parsed(const std::string& preparation, const std::string& where) {
  try {
    Json json = Json::parse(preparation);
    if (json.is_object()) return json;
  } catch (const Json::exception&) {  // reported below
  }
  throw Error(fmt::format("{}: is damaged: it is not a JSON object", where));
}

}  // namespace

std::string preparation_kind(const std::string& preparation, const std::string& where) {
  return preparation.empty() ? "" : parsed(preparation, where).value("kind", "");
}

namespace {

constexpr const char* kReading = "reading";
constexpr const char* kAxes = "axes";

struct ReadingKey {
  const char* name;
  std::string ReadingOptions::*option;
};
constexpr std::array kReadingKeys{
    ReadingKey{"encoding", &ReadingOptions::encoding}, ReadingKey{"separator", &ReadingOptions::separator},
    ReadingKey{"quoting", &ReadingOptions::quoting}, ReadingKey{"header", &ReadingOptions::header}};

}  // namespace

std::string with_reading(const std::string& preparation, const ReadingOptions& reading) {
  Json json = Json::parse(preparation);
  for (const ReadingKey& key : kReadingKeys) {
    if (!(reading.*key.option).empty()) json[kReading][key.name] = reading.*key.option;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ReadingOptions reading_in(const std::string& preparation, const std::string& where) {
  ReadingOptions reading;
  if (preparation.empty()) return reading;
  const Json json = parsed(preparation, where);
  if (!json.contains(kReading)) return reading;
  try {
    for (const ReadingKey& key : kReadingKeys) reading.*key.option = json.at(kReading).value(key.name, "");
  } catch (const Json::exception& e) {
    throw Error(fmt::format("{}: its way of reading is damaged: {}", where, e.what()));
  }
  return reading;
}

std::string preparation_of_axes(const std::string& axes) {
  Json json;
  json[kAxes] = axes;
  return json.dump();
}

std::string axes_in(const std::string& preparation, const std::string& where) {
  if (preparation.empty()) return {};
  const Json json = parsed(preparation, where);
  const auto axes = json.find(kAxes);
  return axes != json.end() && axes->is_string() ? axes->get<std::string>() : "";
}

bool prepare_alike(const std::string& a, const std::string& b) {
  const auto samples_of = [](const std::string& preparation) {
    Json json = preparation.empty() ? Json::object() : parsed(preparation, "a preparation");
    for (const char* key : {"splits", "shuffled", "left_out", kReading, kAxes}) {
      json.erase(key);  // not of a sample
    }
    return json;
  };
  return samples_of(a) == samples_of(b);
}

}  // namespace convoke::data_prep

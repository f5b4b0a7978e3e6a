#include "convoke/data_prep/preparation.hpp"

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

bool prepare_alike(const std::string& a, const std::string& b) {
  const auto samples_of = [](const std::string& preparation) {
    Json json = parsed(preparation, "a preparation");
    for (const char* key : {"splits", "shuffled", "left_out", "assumptions"})
      json.erase(key);  // not of a sample
    return json;
  };
  return samples_of(a) == samples_of(b);
}

}  // namespace convoke::data_prep

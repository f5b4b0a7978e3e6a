#include "convoke/data_prep/preparation.hpp"

#include "preparation_json.hpp"

namespace convoke::data_prep {

std::string preparation_kind(const std::string& preparation, const std::string& where) {
  try {
    return Json::parse(preparation).at("kind").get<std::string>();
  } catch (const Json::exception& e) {
    throw Error(fmt::format("{}: is damaged: {}", where, e.what()));
  }
}

}  // namespace convoke::data_prep

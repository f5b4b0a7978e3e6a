#pragma once
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "convoke/core/error.hpp"

// SampleFormat::preparation, as it is written and read.

namespace convoke::data_prep {

using Json = nlohmann::ordered_json;

/// Returns what `read` makes of a preparation of that kind. Throws Error, naming the place `where`, if `text`
/// is not a JSON object, has another kind, or lacks a value that `read` needs.
template <class Read>
auto read_preparation(const std::string& text, const std::string& kind, const std::string& where,
                      const Read& read) {
  try {
    const Json json = Json::parse(text);
    const auto is = json.at("kind").get<std::string>();
    if (is != kind) throw Error(fmt::format("{}: prepares samples of kind {}, not {}", where, is, kind));
    return read(json);
  } catch (const Json::exception& e) {
    throw Error(fmt::format("{}: is damaged: {}", where, e.what()));
  }
}

}  // namespace convoke::data_prep

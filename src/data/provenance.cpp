#include "convoke/data/provenance.hpp"

#include <fmt/format.h>

namespace convoke::data {

bool is_synthetic(const std::string& provenance) { return provenance.starts_with("synthetic"); }

std::string provenance_note(const std::string& provenance) {
  if (!is_synthetic(provenance)) return {};
  return fmt::format(
      "These samples are {}.\nThe results hold only for them, not for the real data that they imitate.\n",
      provenance.substr(0, provenance.find("; ")));
}

}  // namespace convoke::data

#include "convoke/data_prep/sources/source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace convoke::data_prep {

std::string canonical_split(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kUsual{{{"training", "train"},
                                                                                 {"valid", "validation"},
                                                                                 {"val", "validation"},
                                                                                 {"dev", "validation"},
                                                                                 {"testing", "test"},
                                                                                 {"eval", "validation"}}};
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto it = std::find_if(kUsual.begin(), kUsual.end(), [&](const auto& u) { return u.first == lower; });
  return it == kUsual.end() ? lower : std::string(it->second);
}

}  // namespace convoke::data_prep

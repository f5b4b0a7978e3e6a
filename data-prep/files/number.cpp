#include "convoke/data_prep/files/number.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

#include "convoke/core/csv.hpp"

namespace convoke::data_prep {

std::optional<double> number_in(const std::string& cell) {
  const std::string text = trimmed(cell);
  const char* const end = text.data() + text.size();
  double value = 0;
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';  // from_chars does not accept it
  const auto [next, error] = std::from_chars(text.data() + (plus ? 1 : 0), end, value);
  if (error != std::errc{} || next != end) return {};
  return value;
}

bool is_missing(const std::string& cell) {
  constexpr std::array<std::string_view, 7> kMissing{"", "na", "n/a", "nan", "null", "none", "?"};
  std::string text = trimmed(cell);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kMissing.begin(), kMissing.end(), text) != kMissing.end();
}

}  // namespace convoke::data_prep

#include "convoke/data_prep/files/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "convoke/core/csv.hpp"

namespace convoke::data_prep {

std::optional<double> number_in(const std::string& cell) {
  const std::string text = trimmed(cell);
  const char* const end = text.data() + text.size();
  double value = 0;
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';  // from_chars does not accept it
  const char* const begin = text.data() + (plus ? 1 : 0);
  const auto [next, error] = std::from_chars(begin, end, value);
  if (next != end || (error != std::errc{} && error != std::errc::result_out_of_range)) return {};
  if (error == std::errc::result_out_of_range) value = std::strtod(begin, nullptr);  // 0, tiny or infinite
  return value;
}

std::string value_key(const std::string& cell) {
  const std::string text = trimmed(cell);
  if (const std::optional<double> number = number_in(text); number && std::isfinite(*number))
    return fmt::format("={}", *number == 0 ? 0.0 : *number);
  const std::string small = lower_case(text);
  return small == "true" || small == "false" || small == "yes" || small == "no" ? "=" + small : " " + text;
}

bool is_missing(const std::string& cell) {
  const bool digit = !cell.empty() && cell.front() >= '0' && cell.front() <= '9';
  if (digit && cell.find('#') == std::string::npos) return false;  // most cells
  // Those of pandas.read_csv, in lower case, and "?" of the UCI repository.
  constexpr std::array<std::string_view, 16> kMissing{
      "",    "na",   "n/a",  "nan",      "null",    "none",   "?",        "<na>",
      "#na", "#n/a", "-nan", "#n/a n/a", "-1.#ind", "1.#ind", "-1.#qnan", "1.#qnan"};
  const std::string text = lower_case(trimmed(cell));
  return std::find(kMissing.begin(), kMissing.end(), text) != kMissing.end();
}

}  // namespace convoke::data_prep

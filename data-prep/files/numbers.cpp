#include "convoke/data_prep/files/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "convoke/core/csv.hpp"
#include "convoke/core/text.hpp"

namespace convoke::data_prep {
namespace {

struct Writing {
  char decimal;
  char thousands;
};
// The plainest first.
constexpr std::array<Writing, 9> kWritings{{{'.', 0},
                                            {',', 0},
                                            {'.', ','},
                                            {',', '.'},
                                            {'.', ' '},
                                            {',', ' '},
                                            {'.', '\''},
                                            {',', '\''},
                                            {'.', '_'}}};

enum Unit : std::size_t { kNone, kPercent, kCurrency, kUnits };

// Longer ones first where one begins with another.
constexpr std::array<std::string_view, 22> kCurrencies{"US$", "A$",  "C$",  "R$",  "$",   "€",   "£",   "¥",
                                                       "₹",   "₽", "zł",  "kr.", "kr",  "CHF", "Fr.", "USD",
                                                       "EUR", "GBP", "JPY", "INR", "Rs.", "Rs"};

constexpr std::array<std::pair<std::string_view, char>, 5> kSpellings{
    {{"\u00A0", ' '}, {"\u202F", ' '}, {"\u2009", ' '}, {"\u2019", '\''}, {"\u2212", '-'}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A number's parts as they are written.
struct Written {
  bool negative = false;
  std::string_view currency = {};
  bool percent = false;
  std::string digits;  // with separators and exponent
};

// Blanks, apostrophes and minus signs as in ASCII.
std::string in_ascii(const std::string& cell) {
  if (std::all_of(cell.begin(), cell.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return trimmed(cell);
  std::string text = cell;
  for (const auto& [from, to] : kSpellings) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1))
      text.replace(at, from.size(), 1, to);
  }
  return trimmed(text);
}

void trim(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
}

bool take_sign(std::string_view& text, Written& number) {
  if (!text.starts_with('-') && !text.starts_with('+')) return false;
  number.negative = text.front() == '-';
  text.remove_prefix(1);
  trim(text);
  return true;
}

void take_currency(std::string_view& text, Written& number) {
  for (const std::string_view currency : kCurrencies) {
    if (text.starts_with(currency)) {
      text.remove_prefix(currency.size());
    } else if (text.ends_with(currency)) {
      text.remove_suffix(currency.size());
    } else {
      continue;
    }
    number.currency = currency;
    trim(text);
    return;
  }
}

// Returns the parts of a cell; none if it is no number in any format.
std::optional<Written> written(const std::string& cell) {
  const std::string ascii = in_ascii(cell);
  std::string_view text = ascii;
  Written number;
  const bool brackets = text.size() > 2 && text.front() == '(' && text.back() == ')';
  if (brackets) {  // of accountants
    text = text.substr(1, text.size() - 2);
    trim(text);
  }
  const bool sign = take_sign(text, number);
  take_currency(text, number);
  if (!sign) take_sign(text, number);
  if (text.ends_with('%')) {
    number.percent = true;
    text.remove_suffix(1);
    trim(text);
  }
  if (brackets && (number.currency.empty() || number.negative)) return {};
  number.negative = number.negative || brackets;
  if (text.empty() || (!is_digit(text.front()) && text.front() != '.' && text.front() != ',') ||
      !std::all_of(text.begin(), text.end(), [](char c) {
        return is_digit(c) || std::string_view(".,' _eE+-").find(c) != std::string_view::npos;
      })) {
    return {};
  }
  number.digits = text;
  return number;
}

// Removes the separators of thousands; false if they are not every three digits.
bool join_thousands(std::string& whole, char separator) {
  if (whole.find(separator) == std::string::npos) return true;
  std::string joined;
  std::size_t begin = 0;
  for (std::size_t end = whole.find(separator);; end = whole.find(separator, begin)) {
    const std::size_t digits = std::min(end, whole.size()) - begin;
    if (begin == 0 ? digits < 1 || digits > 3 || whole[0] == '0' : digits != 3) return false;
    joined.append(whole, begin, digits);
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  whole = joined;
  return true;
}

// Numbers with an exponent have no separators of thousands: 1.043e+04 is 10430, also where 1.043 is 1043.
std::optional<double> value_of(const Written& number, const Writing& writing) {
  std::string whole = number.digits, rest;
  const std::size_t exponent = whole.find_first_of("eE");
  if (exponent != std::string::npos) {
    rest = whole.substr(exponent);
    whole.resize(exponent);
  }
  if (const std::size_t point = whole.find(writing.decimal); point != std::string::npos) {
    rest = "." + whole.substr(point + 1) + rest;
    whole.resize(point);
  }
  if (writing.thousands != 0 && exponent == std::string::npos && !join_thousands(whole, writing.thousands))
    return {};
  if (!std::all_of(whole.begin(), whole.end(), is_digit)) return {};
  const std::optional<double> value = number_in(whole + rest);
  if (!value) return {};
  return number.negative ? -*value : *value;
}

std::optional<double> in_unit(double value, const Written& number, const NumberFormat& format) {
  if (number.percent != format.percent) return {};
  if (!number.currency.empty() && number.currency != format.currency) return {};
  return format.percent ? value / 100 : value;
}

std::size_t index_of(const NumberFormat& format) {
  const auto it = std::find_if(kWritings.begin(), kWritings.end(), [&](const Writing& writing) {
    return writing.decimal == format.decimal && writing.thousands == format.thousands;
  });
  const Unit unit = format.percent ? kPercent : format.currency.empty() ? kNone : kCurrency;
  return static_cast<std::size_t>(it - kWritings.begin()) * kUnits + unit;
}

constexpr std::uint32_t in_all_writings(std::uint32_t units) {
  std::uint32_t formats = 0;
  for (std::size_t w = 0; w < kWritings.size(); ++w) formats |= units << (w * kUnits);
  return formats;
}

constexpr std::uint32_t kBare = 1U << kNone | 1U << kCurrency;

}  // namespace

std::optional<double> NumberFormat::read(const std::string& cell) const {
  if (decimal == '.' && !percent) {
    if (const std::optional<double> plain = number_in(cell)) return plain;
  }
  const std::optional<Written> number = written(cell);
  if (!number) return number_in(cell);  // inf
  const std::optional<double> value = value_of(*number, {decimal, thousands});
  return value ? in_unit(*value, *number, *this) : std::nullopt;
}

bool is_missing_number(const std::string& cell) {
  if (is_missing(cell)) return true;
  if (cell.size() > 8) return false;
  const std::string text = in_ascii(cell);
  return text == "-" || text == "--" || text == "." || text == "–" || text == "—";
}

std::string to_text(const NumberFormat& format) {
  std::vector<std::string> parts;
  if (format.decimal == ',') parts.emplace_back("decimal comma");
  if (format.thousands == ' ') {
    parts.emplace_back("thousands separated by blanks");
  } else if (format.thousands != 0) {
    parts.push_back(fmt::format("thousands separated by {}", format.thousands));
  }
  if (format.percent) parts.emplace_back("per cent, 12 % is 0.12");
  if (!format.currency.empty()) parts.push_back("amounts in " + format.currency);
  return join(parts);
}

void NumberColumn::add(const std::string& cell, std::uint64_t line) {
  ++cells_;
  if (!cell.empty() && std::all_of(cell.begin(), cell.end(), is_digit)) {  // most cells
    count(in_all_writings(kBare), cell, line);
    return;
  }
  std::uint32_t readers = 0;
  const std::optional<Written> number = written(cell);
  if (!number) {
    if (number_in(cell)) readers = in_all_writings(kBare);  // inf
  } else {
    if (currency_.empty()) currency_ = number->currency;
    const std::uint32_t units = number->percent            ? number->currency.empty() ? 1U << kPercent : 0U
                                : number->currency.empty() ? kBare
                                : number->currency == currency_ ? 1U << kCurrency
                                                                : 0U;
    if (std::all_of(number->digits.begin(), number->digits.end(), is_digit)) {
      readers = in_all_writings(units);
    } else {
      for (std::size_t w = 0; w < kWritings.size(); ++w) {
        if (value_of(*number, kWritings[w])) readers |= units << (w * kUnits);
      }
    }
  }
  count(readers, cell, line);
}

void NumberColumn::count(std::uint32_t readers, const std::string& cell, std::uint64_t line) {
  ++counts_[readers];
  for (std::uint32_t failed = unset_ & ~readers; failed != 0; failed &= failed - 1)
    first_unread_[static_cast<std::size_t>(__builtin_ctz(failed))] = {line, cell};
  unset_ &= readers;
}

std::int64_t NumberColumn::read(const NumberFormat& format) const {
  std::int64_t cells = 0;
  for (const auto& [readers, count] : counts_) cells += (readers >> index_of(format) & 1U) != 0 ? count : 0;
  return cells;
}

const NumberColumn::Cell& NumberColumn::first_unread(const NumberFormat& format) const {
  return first_unread_[index_of(format)];
}

NumberFormat NumberColumn::format(char decimal) const {
  NumberFormat best;
  std::int64_t most = -1;
  for (const bool preferred : {true, false}) {
    for (const Writing& writing : kWritings) {
      if ((writing.decimal == (decimal == 0 ? '.' : decimal)) != preferred) continue;
      for (const Unit unit : {kNone, kPercent, kCurrency}) {
        if (unit == kCurrency && currency_.empty()) continue;
        const NumberFormat format{.decimal = writing.decimal,
                                  .thousands = writing.thousands,
                                  .percent = unit == kPercent,
                                  .currency = unit == kCurrency ? currency_ : ""};
        if (const std::int64_t count = read(format); count > most)
          std::tie(most, best) = std::pair(count, format);
      }
    }
  }
  return best;
}

char NumberColumn::decimal() const {
  const NumberFormat point = format('.'), comma = format(',');
  if (point.decimal != comma.decimal || !is_numeric(point)) return 0;
  return point.decimal;
}

bool NumberColumn::ambiguous() const {
  const NumberFormat point = format('.'), comma = format(',');
  return point.decimal != comma.decimal && (point.thousands == ',' || comma.thousands == '.') &&
         is_numeric(point);
}

bool NumberColumn::is_numeric(const NumberFormat& format) const {
  const std::int64_t good = read(format), bad = cells_ - good;
  return cells_ > 0 && bad <= std::max<std::int64_t>(1, cells_ / 10) && good >= 3 * bad && good > 0;
}

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
  if (const auto whole = parse_number<std::int64_t>(text)) return fmt::format("={}", *whole);
  if (const std::optional<double> number = number_in(text); number && std::isfinite(*number)) {
    const bool whole = *number == std::trunc(*number) && std::abs(*number) < 0x1p63;
    return whole ? fmt::format("={}", static_cast<std::int64_t>(*number)) : fmt::format("={}", *number);
  }
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

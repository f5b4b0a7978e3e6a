#include "sample_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "convoke/core/error.hpp"

namespace convoke::data {
namespace {

// Returns the position of the `flat`-th value of a sample: "3" or "(2, 5, 0)".
std::string place_in(const Shape& stored, std::size_t flat) {
  std::vector<std::int64_t> place(stored.rank());
  auto rest = static_cast<std::int64_t>(flat);
  for (std::size_t axis = stored.rank(); axis-- > 0; rest /= stored[axis]) place[axis] = rest % stored[axis];
  return place.size() == 1 ? std::to_string(place[0]) : Shape(place).to_string();
}

std::optional<Fault> token_fault(std::span<const std::int32_t> tokens, const Shape& stored,
                                 std::int64_t vocabulary) {
  const std::int64_t end = vocabulary > 0 ? vocabulary : std::numeric_limits<std::int64_t>::max();
  const auto bad =
      std::find_if(tokens.begin(), tokens.end(), [&](std::int32_t t) { return t < 0 || t >= end; });
  if (bad == tokens.end()) return {};
  const auto at = static_cast<std::size_t>(bad - tokens.begin());
  const auto length = static_cast<std::size_t>(stored.elements());
  const std::string allowed = vocabulary > 0
                                  ? fmt::format("outside 0..{} (vocabulary {})", vocabulary - 1, vocabulary)
                                  : "but tokens are numbered from 0 (padding)";
  return Fault{at / length,
               fmt::format("has token {} at position {}, {}", *bad, place_in(stored, at % length), allowed)};
}

std::optional<Fault> number_fault(std::span<const float> values, const Shape& stored) {
  const auto bad = std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  if (bad == values.end()) return {};
  const auto at = static_cast<std::size_t>(bad - values.begin());
  const auto size = static_cast<std::size_t>(stored.elements());
  return Fault{at / size, fmt::format("has the value {} at position {}; numbers must be finite", *bad,
                                      place_in(stored, at % size))};
}

}  // namespace

void refuse(const std::optional<Fault>& fault, const StoredArray& array, std::int64_t first) {
  if (!fault) return;
  const std::int64_t row = first + static_cast<std::int64_t>(fault->sample);
  const StoredPiece& piece = piece_of(array, row);
  throw Error(fmt::format("{}: sample {} {}", piece.where(), row - piece.first, fault->what));
}

std::optional<Fault> label_fault(std::span<const std::int32_t> labels, std::int64_t classes) {
  const auto bad =
      std::find_if(labels.begin(), labels.end(), [&](std::int32_t l) { return l < 0 || l >= classes; });
  if (bad == labels.end()) return {};
  return Fault{static_cast<std::size_t>(bad - labels.begin()),
               fmt::format("has label {}, outside 0..{}", *bad, classes - 1)};
}

std::optional<Fault> weight_fault(std::span<const float> weights) {
  const auto bad =
      std::find_if(weights.begin(), weights.end(), [](float w) { return !(w >= 0) || !std::isfinite(w); });
  if (bad == weights.end()) return {};
  return Fault{static_cast<std::size_t>(bad - weights.begin()),
               fmt::format("has weight {}; weights must be finite and at least 0", *bad)};
}

std::optional<Fault> size_fault(std::span<const std::int32_t> sizes) {
  const auto bad = std::find_if(sizes.begin(), sizes.end(), [](std::int32_t size) { return size < 0; });
  if (bad == sizes.end()) return {};
  return Fault{static_cast<std::size_t>(bad - sizes.begin()) / 2,
               fmt::format("has original size {}; sizes must be at least 0", *bad)};
}

std::optional<Fault> group_fault(std::span<const std::int32_t> groups) {
  const auto bad = std::find_if(groups.begin(), groups.end(), [](std::int32_t group) { return group < 0; });
  if (bad == groups.end()) return {};
  return Fault{static_cast<std::size_t>(bad - groups.begin()),
               fmt::format("has group {}; groups are numbered from 0, and a sample of no group has a number "
                           "of its own",
                           *bad)};
}

std::optional<Fault> sample_fault(const Samples& samples, const Shape& stored, std::int64_t vocabulary) {
  if (const auto* tokens = std::get_if<std::span<const std::int32_t>>(&samples)) {
    return token_fault(*tokens, stored, vocabulary);
  }
  if (const auto* numbers = std::get_if<std::span<const float>>(&samples)) {
    return number_fault(*numbers, stored);
  }
  return {};  // every byte is a valid pixel
}

}  // namespace convoke::data

#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "convoke/study/tables/measured_configuration.hpp"

namespace convoke::study {

/// Returns the variant without keys of ensembles, which say how work is done, not which work: a group's
/// variant contains its members.
inline std::string variant_of_work(const Coordinates& at) {
  constexpr std::string_view kBlanks = " \t\n\r\v\f";
  const std::string_view all = at.variant;
  std::string kept;
  for (std::size_t begin = all.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(all.find_first_of(kBlanks, begin), all.size());
    const std::string_view word = all.substr(begin, end - begin);
    if (!word.starts_with("ensemble.")) kept.append(" ").append(word);
    begin = all.find_first_not_of(kBlanks, end);
  }
  return kept;
}

/// Returns true for the same work on the same machine, in any mode.
inline bool same_work(const Coordinates& a, const Coordinates& b) {
  return a.system == b.system && a.machine == b.machine && a.fraction == b.fraction &&
         variant_of_work(a) == variant_of_work(b);
}

/// Returns the base of a curve among those of `all` that `is_measured`: the configuration of the same work
/// with the fewest workers; of several, the one with the curve's mode and batch policy, and the one that is
/// not emulated. If numbers of workers are unknown, a sequential mode is the base. Null if there is none.
/// `place` returns the coordinates of an element of `all`.
template <class T, class Place, class Measured>
const T* base_among(std::span<const T> all, const Coordinates& curve, Place place, Measured is_measured) {
  const auto order = [&](const Coordinates& at) {
    return std::tuple(at.workers(), at.mode != curve.mode, at.batch != curve.batch,
                      at.variant != curve.variant, at.emulated);
  };
  const T* base = nullptr;
  for (const T& candidate : all) {
    const Coordinates& at = place(candidate);
    if (!same_work(at, curve) || !is_measured(candidate)) continue;
    if (at.workers() == 0 && !is_sequential(at.mode)) continue;
    if (base == nullptr || order(at) < order(place(*base))) base = &candidate;
  }
  return base;
}

}  // namespace convoke::study

#pragma once
#include <span>
#include <sstream>
#include <string>
#include <tuple>

#include "convoke/study/tables/cells.hpp"

namespace convoke::study {

/// The variant without keys of ensembles, which are how work is done, not which: groups have their members in
/// it.
inline std::string variant_of_work(const Coordinates& at) {
  std::istringstream words(at.variant);
  std::string kept;
  for (std::string word; words >> word;) {
    if (!word.starts_with("ensemble.")) kept += " " + word;
  }
  return kept;
}

/// The same work on the same machine, however it is shared.
inline bool same_work(const Coordinates& a, const Coordinates& b) {
  return a.system == b.system && a.machine == b.machine && a.portion == b.portion &&
         variant_of_work(a) == variant_of_work(b);
}

/// What a curve is compared with, of `all` that `is_measured`: the fewest workers of the same work; of
/// several, the curve's own mode and batch policy. Where numbers of workers are not said, what is called
/// sequential. Null if there is none. `place` gives the coordinates of one of `all`.
template <class T, class Place, class Measured>
const T* base_among(std::span<const T> all, const Coordinates& curve, Place place, Measured is_measured) {
  const auto order = [&](const Coordinates& at) {
    return std::tuple(at.workers(), at.mode != curve.mode, at.batch != curve.batch,
                      at.variant != curve.variant);
  };
  const T* base = nullptr;
  for (const T& candidate : all) {
    const Coordinates at = place(candidate);
    if (!same_work(at, curve) || !is_measured(candidate)) continue;
    if (at.workers() == 0 && !is_sequential(at.mode)) continue;
    if (base == nullptr || order(at) < order(place(*base))) base = &candidate;
  }
  return base;
}

}  // namespace convoke::study

#pragma once
#include <cstddef>

namespace convoke::engine {

/// Elements [begin, end) of an array.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

/// Returns part `part` of [0, size) in whole cache lines of floats, so that threads do not share one.
Range slice_of(std::size_t size, int part, int parts);

/// Returns part `part` of [0, size); the sizes of parts differ by at most one.
Range even_part(std::size_t size, int part, int parts);

}  // namespace convoke::engine

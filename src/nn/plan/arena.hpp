#pragma once
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace convoke::nn {

/// A buffer and the steps between which it holds something.
struct BufferUse {
  std::size_t bytes = 0;
  std::size_t first = std::numeric_limits<std::size_t>::max();
  std::size_t last = 0;

  void use_at(std::size_t time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
  bool used() const { return first <= last; }
  bool overlaps(const BufferUse& other) const { return first <= other.last && other.first <= last; }
};

struct ArenaPlan {
  std::vector<std::size_t> offsets;  ///< of each buffer, 64-byte aligned
  std::size_t bytes = 0;
};

/// Places buffers in one arena such that those that are alive at the same time do not overlap: largest first,
/// each in the lowest gap that holds it.
ArenaPlan place(const std::vector<BufferUse>& buffers);

}  // namespace convoke::nn

#pragma once
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace convoke::nn {

/// The range of steps from the first to the last use.
struct Interval {
  std::size_t first = std::numeric_limits<std::size_t>::max();
  std::size_t last = 0;

  void use_at(std::size_t time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
  bool used() const { return first <= last; }
  bool overlaps(const Interval& other) const { return first <= other.last && other.first <= last; }
};

/// A buffer and the steps during which it holds a value. If the value is computed again, there are two
/// intervals.
struct BufferUse {
  std::size_t bytes = 0;
  Interval once, again;

  bool used() const { return once.used() || again.used(); }
  bool overlaps(const BufferUse& other) const {
    return once.overlaps(other.once) || once.overlaps(other.again) || again.overlaps(other.once) ||
           again.overlaps(other.again);
  }
};

struct CompiledPlan;

struct ArenaPlacement {
  std::vector<std::size_t> offsets;  ///< offset of each buffer, 64-byte aligned
  std::size_t bytes = 0;
};

/// Places buffers in one arena. Buffers that are alive at the same time do not overlap. Takes the largest
/// buffer first, and puts each in the lowest gap that holds it.
ArenaPlacement place(const std::vector<BufferUse>& buffers);

/// Places the buffers of a compiled plan, based on the steps that use them.
ArenaPlacement place_buffers(const CompiledPlan& plan);

}  // namespace convoke::nn

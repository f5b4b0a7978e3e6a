#pragma once
#include <cstddef>
#include <cstdint>

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

/// Consecutive micro-batches of a step: [first, first + count).
struct MicroBatchRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Returns the share of part `part` when `micro_batches` are divided into `parts` ranges whose sizes differ
/// by at most one.
MicroBatchRange share_of(MicroBatchRange micro_batches, std::int64_t part, std::int64_t parts);

}  // namespace convoke::engine

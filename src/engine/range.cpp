#include "convoke/engine/range.hpp"

namespace convoke::engine {
namespace {

constexpr std::size_t kCacheLineFloats = 16;

std::size_t cut(std::size_t size, int part, int parts) {
  return size * static_cast<std::size_t>(part) / static_cast<std::size_t>(parts);
}

}  // namespace

Range even_part(std::size_t size, int part, int parts) {
  return {cut(size, part, parts), cut(size, part + 1, parts)};
}

Range slice_of(std::size_t size, int part, int parts) {
  Range slice = even_part(size, part, parts);
  slice.begin -= slice.begin % kCacheLineFloats;
  if (part + 1 < parts) slice.end -= slice.end % kCacheLineFloats;
  return slice;
}

MicroBatchRange share_of(MicroBatchRange micro_batches, std::int64_t part, std::int64_t parts) {
  const std::int64_t begin = micro_batches.count * part / parts;
  const std::int64_t end = micro_batches.count * (part + 1) / parts;
  return {micro_batches.first + begin, end - begin};
}

}  // namespace convoke::engine

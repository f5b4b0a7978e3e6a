#include "convoke/engine/node_share.hpp"

#include <algorithm>

namespace convoke::engine {

NodeShare::NodeShare(std::size_t elements, int place, int leaders)
    : slice_(place < leaders ? slice_of(elements, place, leaders) : Range{}), added_(slice_.begin) {}

std::size_t NodeShare::bf16_elements(std::size_t of_all) const {
  return std::clamp(of_all, slice_.begin, slice_.end) - slice_.begin;
}

Range NodeShare::take(std::size_t complete) {
  const Range next{added_, std::max(added_, std::min(complete, slice_.end))};
  added_ = next.end;
  return next;
}

}  // namespace convoke::engine

#pragma once
#include <cstddef>

#include "convoke/engine/range.hpp"

namespace convoke::engine {

/// The place of a rank among the nodes of its group. Ranks that share no memory count as nodes.
struct NodePlace {
  int nodes = 1;
  int leaders = 1;  ///< ranks of each node that exchange with other nodes
  int rank = 0;     ///< on its node; those from `leaders` on exchange nothing
};

/// The slice of a node's sums that a rank adds and exchanges with other nodes, and how much of it is added.
/// Some ranks of each node, its leaders, have a slice each; every node has as many leaders, so that the
/// leaders with the same number exchange the same slice. Knows only sizes, so a simulation uses it, too.
class NodeShare {
 public:
  NodeShare() = default;
  /// `elements`: of the sums; `place`: of this rank on its node. The slice is empty from `leaders` on.
  NodeShare(std::size_t elements, int place, int leaders);

  Range slice() const { return slice_; }
  /// Returns how many elements of the slice, from its first on, are among the first `of_all` of the sums.
  std::size_t bf16_elements(std::size_t of_all) const;

  void begin_step() { added_ = slice_.begin; }
  /// Returns the elements to add next, if all workers of the node have completed elements [0, complete) of
  /// their sums.
  Range take(std::size_t complete);
  /// Number of elements of the slice, from its first on, that are added.
  std::size_t ready() const { return added_ - slice_.begin; }
  bool done() const { return added_ >= slice_.end; }

 private:
  Range slice_;
  std::size_t added_ = 0;  ///< end of the elements that are added
};

}  // namespace convoke::engine

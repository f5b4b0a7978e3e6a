#include <algorithm>
#include <numeric>

#include "convoke/core/error.hpp"
#include "interop/onnx/view.hpp"

namespace convoke::interop::onnx {
namespace {

View::Axis joined(const std::vector<View::Axis>& groups) {
  View::Axis all;
  for (const View::Axis& group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

Shape shape_of(const View& view, const std::vector<View::Axis>& groups) {
  std::vector<std::int64_t> extents;
  for (const View::Axis& group : groups) extents.push_back(view.extent(group));
  return Shape(extents);
}

bool is_ascending(const View::Axis& atoms) {
  return std::adjacent_find(atoms.begin(), atoms.end(), [](int a, int b) { return b != a + 1; }) ==
             atoms.end() &&
         (atoms.empty() || atoms.front() == 0);
}

std::size_t in_shape(ModelBuilder& builder, std::size_t node, const Shape& shape) {
  if (builder.graph().node(node).shape == shape) return node;
  if (shape.rank() == 1) return builder.add({{"layer", "flatten"}}, {node});
  return builder.add(reshape_to(shape), {node});
}

/// Atoms that stay neighbors in a new order.
struct Block {
  int first = 0;  ///< its first atom
  std::int64_t extent = 1;
};

std::vector<Block> blocks_of(const View& view, const View::Axis& order) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t extent = view.atoms[static_cast<std::size_t>(order[i])];
    if (i > 0 && order[i] == order[i - 1] + 1) {
      blocks.back().extent *= extent;
    } else {
      blocks.push_back({order[i], extent});
    }
  }
  return blocks;
}

std::int64_t product(std::span<const Block> blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), std::int64_t{1},
                         [](std::int64_t p, const Block& block) { return p * block.extent; });
}

std::size_t permuted(ModelBuilder& builder, std::size_t node, const Shape& as,
                     const std::vector<std::int64_t>& dims) {
  return builder.add(permute_by(dims), {in_shape(builder, node, as)});
}

/// Reorders blocks to `order`, with permutations of three axes: each moves one block to its place.
std::size_t reorder(ModelBuilder& builder, std::size_t node, const std::vector<Block>& order) {
  std::vector<Block> now = order;
  std::sort(now.begin(), now.end(), [](const Block& a, const Block& b) { return a.first < b.first; });
  if (order.size() <= 3) {
    std::vector<std::int64_t> extents, dims;
    for (const Block& block : now) extents.push_back(block.extent);
    for (const Block& block : order) {
      const auto at =
          std::find_if(now.begin(), now.end(), [&](const Block& b) { return b.first == block.first; });
      dims.push_back(at - now.begin() + 1);
    }
    return permuted(builder, node, Shape(extents), dims);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::size_t j = i;
    while (now[j].first != order[i].first) ++j;
    if (i == j) continue;
    // (before, skipped, moved, after) -> (before, moved, skipped, after)
    const std::span<const Block> all(now);
    const std::int64_t before = product(all.first(i)), skipped = product(all.subspan(i, j - i)),
                       moved = now[j].extent, after = product(all.subspan(j + 1));
    if (before == 1) {
      node = permuted(builder, node, {skipped, moved, after}, {2, 1, 3});
    } else if (after == 1) {
      node = permuted(builder, node, {before, skipped, moved}, {1, 3, 2});
    } else {
      node = permuted(builder, node, {before, skipped * moved * after}, {2, 1});
      node = permuted(builder, node, {skipped, moved, after * before}, {2, 1, 3});
      node = permuted(builder, node, {moved * skipped * after, before}, {2, 1});
    }
    std::rotate(now.begin() + static_cast<std::ptrdiff_t>(i), now.begin() + static_cast<std::ptrdiff_t>(j),
                now.begin() + static_cast<std::ptrdiff_t>(j) + 1);
  }
  return node;
}

/// Returns the groups of a channel shuffle that has the same effect on an image (C, H, W), or 0.
std::int64_t shuffle_groups(const Shape& shape, const std::vector<Block>& order) {
  const bool swapped = order.size() >= 2 && order.size() <= 3 && order[1].first == 0 && order[0].first > 0 &&
                       (order.size() == 2 || order[2].first > order[0].first);
  if (!swapped || shape.rank() != 3 || order[0].extent * order[1].extent != shape[0]) return 0;
  return order[1].extent;
}

}  // namespace

bool is_arranged(const ModelBuilder& builder, const View& view, const std::vector<View::Axis>& groups) {
  return is_ascending(joined(groups)) && builder.graph().node(view.node).shape == shape_of(view, groups);
}

std::size_t arrange(ModelBuilder& builder, const View& view, const std::vector<View::Axis>& groups) {
  const View::Axis order = joined(groups);
  const Shape shape = shape_of(view, groups);
  std::size_t node = view.node;
  if (!is_ascending(order)) {
    const std::vector<Block> blocks = blocks_of(view, order);
    const std::int64_t shuffle = shuffle_groups(builder.graph().node(node).shape, blocks);
    node = shuffle > 1 ? builder.add({{"layer", "channel_shuffle"}, {"groups", shuffle}}, {node})
                       : reorder(builder, node, blocks);
  }
  return in_shape(builder, node, shape);
}

namespace {

/// Returns the view over `node`, whose axes are these groups of atoms of `view`.
View over(const View& view, std::size_t node, const std::vector<View::Axis>& groups) {
  const View::Axis order = joined(groups);
  View result = view;
  result.node = node;
  for (std::size_t i = 0; i < order.size(); ++i)
    result.atoms[i] = view.atoms[static_cast<std::size_t>(order[i])];
  for (View::Axis& axis : result.axes) {
    for (int& atom : axis) {
      if (atom == View::kBatch) continue;
      atom = static_cast<int>(std::find(order.begin(), order.end(), atom) - order.begin());
    }
  }
  return result;
}

}  // namespace

View with_channels(ModelBuilder& builder, const View& view, const View::Axis& channels) {
  const Shape& shape = builder.graph().node(view.node).shape;
  View::Axis rest;  // in the order in which they lie in memory
  for (int atom = 0; atom < static_cast<int>(view.atoms.size()); ++atom) {
    if (std::find(channels.begin(), channels.end(), atom) == channels.end()) rest.push_back(atom);
  }
  const std::int64_t wanted = view.extent(channels);
  const bool ascending = is_ascending(channels);
  if (nn::channels_of(shape) == wanted) {
    View::Axis order = shape.rank() == 3 ? channels : rest;
    const View::Axis& tail = shape.rank() == 3 ? rest : channels;
    order.insert(order.end(), tail.begin(), tail.end());
    if (is_ascending(order) && (shape.rank() != 1 || rest.empty())) return view;
  }
  std::vector<View::Axis> groups{rest, channels};
  if (rest.empty()) {
    groups = {channels};
  } else if (ascending && view.extent(rest) > 1) {
    groups = {channels, rest, {}};  // an image whose first atoms are the channels is not transposed
  }
  return arranged(builder, view, groups);
}

std::vector<std::size_t> natural_order(const ModelBuilder& builder, const View& view) {
  const std::optional<std::size_t> batch = view.batch_axis();
  if (!batch) return {};
  std::vector<std::size_t> all, wide;  // without and with axes of extent 1
  for (std::size_t axis = 0; axis < view.rank(); ++axis) {
    if (axis == *batch) continue;
    all.push_back(axis);
    if (!view.axes[axis].empty()) wide.push_back(axis);
  }
  for (std::vector<std::size_t> order : {all, wide}) {
    if (order.empty() || order.size() > 3) continue;
    do {
      std::vector<View::Axis> groups;
      for (const std::size_t axis : order) groups.push_back(view.axes[axis]);
      if (is_arranged(builder, view, groups)) return order;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  if (!all.empty() && all.size() <= 3) return all;
  return wide.size() <= 3 ? wide : std::vector<std::size_t>{};
}

View arranged(ModelBuilder& builder, const View& view, const std::vector<std::size_t>& order) {
  std::vector<View::Axis> groups;
  for (const std::size_t axis : order) groups.push_back(view.axes[axis]);
  return arranged(builder, view, groups);
}

View arranged(ModelBuilder& builder, const View& view, const std::vector<View::Axis>& groups) {
  return over(view, arrange(builder, view, groups), groups);
}

View flattened(ModelBuilder& builder, const View& view) {
  const View::Axis atoms = atoms_of(view, all_axes(view.rank()));
  return View::of(builder.graph(), arrange(builder, view, {atoms}), {View::kBatch, 0});
}

}  // namespace convoke::interop::onnx

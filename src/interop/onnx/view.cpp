#include "interop/onnx/view.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace convoke::interop::onnx {

View View::of(const nn::Graph& graph, std::size_t node, const std::vector<int>& roles) {
  const Shape& shape = graph.node(node).shape;
  View view;
  view.node = node;
  std::vector<int> atom_of(shape.rank(), kOne);
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    atom_of[axis] = static_cast<int>(view.atoms.size());
    view.atoms.push_back(shape[axis]);
  }
  for (const int role : roles) {
    const int atom = role >= 0 ? atom_of[static_cast<std::size_t>(role)] : role;
    view.axes.push_back(atom == kOne ? Axis{} : Axis{atom});
  }
  return view;
}

std::int64_t View::extent(const Axis& axis) const {
  std::int64_t product = 1;
  for (const int atom : axis) product *= atom == kBatch ? 1 : atoms[static_cast<std::size_t>(atom)];
  return product;
}

bool View::has_batch(std::size_t axis) const {
  return std::find(axes[axis].begin(), axes[axis].end(), kBatch) != axes[axis].end();
}

Dim View::dim(std::size_t axis) const { return {extent(axes[axis]), has_batch(axis)}; }

std::vector<Dim> View::dims() const {
  std::vector<Dim> all;
  for (std::size_t i = 0; i < axes.size(); ++i) all.push_back(dim(i));
  return all;
}

std::optional<std::size_t> View::batch_axis() const {
  const auto it = std::find(axes.begin(), axes.end(), Axis{kBatch});
  if (it == axes.end()) return std::nullopt;
  return static_cast<std::size_t>(it - axes.begin());
}

View View::transposed(const std::vector<std::size_t>& order) const {
  View view = *this;
  for (std::size_t i = 0; i < order.size(); ++i) view.axes[i] = axes[order[i]];
  return view;
}

void View::split(std::size_t atom, std::int64_t inner) {
  const int at = static_cast<int>(atom);
  atoms[atom] /= inner;
  atoms.insert(atoms.begin() + at + 1, inner);
  for (Axis& axis : axes) {
    Axis renumbered;
    for (const int i : axis) {
      renumbered.push_back(i > at ? i + 1 : i);
      if (i == at) renumbered.push_back(at + 1);
    }
    axis = std::move(renumbered);
  }
}

View View::with_node(std::size_t other) const {
  View view = *this;
  view.node = other;
  return view;
}

std::optional<View> View::reshaped(const std::vector<Dim>& to) const {
  View view = *this;
  view.axes.clear();
  view.axes.emplace_back();  // all that is left, which split() renumbers
  for (const Axis& axis : axes) view.axes[0].insert(view.axes[0].end(), axis.begin(), axis.end());
  for (const Dim dim : to) {
    Axis taken;
    std::int64_t wanted = dim.value;
    bool batch = dim.batch;
    // Atoms that were taken are kept as an axis too, so that split() renumbers them.
    view.axes.emplace_back();
    while (wanted > 1 || batch) {
      if (view.axes[0].empty()) return std::nullopt;
      const int first = view.axes[0].front();
      if (first == kBatch) {
        if (!batch) return std::nullopt;
        batch = false;
      } else {
        const auto atom = static_cast<std::size_t>(first);
        const std::int64_t extent = view.atoms[atom];
        if (wanted % extent == 0) {
          wanted /= extent;
        } else if (wanted > 1 && extent % wanted == 0) {
          view.split(atom, extent / wanted);
          wanted = 1;
        } else {
          return std::nullopt;
        }
      }
      view.axes.back().push_back(first);
      view.axes[0].erase(view.axes[0].begin());
    }
  }
  if (!view.axes[0].empty()) return std::nullopt;
  view.axes.erase(view.axes.begin());
  return view;
}

std::vector<std::size_t> all_axes(std::size_t rank) {
  std::vector<std::size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

View::Axis atoms_of(const View& view, const std::vector<std::size_t>& axes) {
  View::Axis atoms;
  for (const std::size_t axis : axes) {
    std::copy_if(view.axes[axis].begin(), view.axes[axis].end(), std::back_inserter(atoms),
                 [](int atom) { return atom != View::kBatch; });
  }
  return atoms;
}

namespace {

std::vector<View::Axis> groups_of(const View& view, const std::vector<std::size_t>& order) {
  std::vector<View::Axis> groups;
  for (const std::size_t axis : order) groups.push_back(view.axes[axis]);
  return groups;
}

/// Each group has several axes. The batch is left out.
std::vector<View::Axis> groups_of(const View& view, const std::vector<std::vector<std::size_t>>& order) {
  std::vector<View::Axis> groups;
  for (const std::vector<std::size_t>& axes : order) groups.push_back(atoms_of(view, axes));
  return groups;
}

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
  std::ranges::sort(now, {}, &Block::first);
  if (order.size() <= 3) {
    std::vector<std::int64_t> extents, dims;
    for (const Block& block : now) extents.push_back(block.extent);
    for (const Block& block : order) {
      const auto at = std::ranges::find(now, block.first, &Block::first);
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

Along place(ModelBuilder& builder, const View& view, std::vector<std::vector<std::size_t>> order,
            std::size_t axis) {
  const auto own = std::ranges::find(order, std::vector<std::size_t>{axis});
  const auto at = static_cast<std::size_t>(own == order.end() ? 0 : own - order.begin());
  const View from = arranged(builder, view, groups_of(view, order));
  return {from, std::move(order), axis, at, 1};
}

/// Returns the value as (axes before, this axis with the axes after it), if its numbers lie in this order.
std::optional<Along> in_memory_order(ModelBuilder& builder, const View& view, std::size_t axis) {
  const View::Axis& own = view.axes[axis];
  if (own.empty()) return std::nullopt;
  std::vector<std::size_t> before, after{axis};
  for (std::size_t i = 0; i < view.rank(); ++i) {
    const View::Axis atoms = atoms_of(view, {i});
    if (i != axis && !atoms.empty()) (atoms.front() < own.front() ? before : after).push_back(i);
  }
  const auto first_atom = [&](std::size_t one) { return atoms_of(view, {one}).front(); };
  std::ranges::sort(before, {}, first_atom);
  std::ranges::sort(after, {}, first_atom);
  std::vector<std::vector<std::size_t>> order{after};
  if (!before.empty()) order.insert(order.begin(), before);
  const std::vector<View::Axis> groups = groups_of(view, order);
  if (!std::ranges::is_sorted(joined(groups))) return std::nullopt;
  return Along{arranged(builder, view, groups), order, axis, order.size() - 1,
               view.extent(groups.back()) / view.extent(own)};
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

View with_channels(ModelBuilder& builder, const View& view, const View::Axis& channels) {
  const Shape& shape = builder.graph().node(view.node).shape;
  View::Axis rest;  // in the order in which they lie in memory
  for (int atom = 0; atom < static_cast<int>(view.atoms.size()); ++atom) {
    if (std::find(channels.begin(), channels.end(), atom) == channels.end()) rest.push_back(atom);
  }
  if (nn::channels_of(shape) == view.extent(channels)) {
    const View::Axis order = shape.rank() == 3 ? joined({channels, rest}) : joined({rest, channels});
    if (is_ascending(order) && (shape.rank() != 1 || rest.empty())) return view;
  }
  if (rest.empty()) return arranged(builder, view, std::vector<View::Axis>{channels});
  // An image whose first atoms are the channels is not transposed.
  const bool image = is_ascending(channels) && view.extent(rest) > 1;
  return arranged(builder, view,
                  image ? std::vector<View::Axis>{channels, rest, {}} : std::vector{rest, channels});
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
      if (is_arranged(builder, view, groups_of(view, order))) return order;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  if (!all.empty() && all.size() <= 3) return all;
  return wide.size() <= 3 ? wide : std::vector<std::size_t>{};
}

View arranged(ModelBuilder& builder, const View& view, const std::vector<std::size_t>& order) {
  return arranged(builder, view, groups_of(view, order));
}

View arranged(ModelBuilder& builder, const View& view, const std::vector<View::Axis>& groups) {
  return over(view, arrange(builder, view, groups), groups);
}

View flattened(ModelBuilder& builder, const View& view) {
  const View::Axis atoms = atoms_of(view, all_axes(view.rank()));
  return View::of(builder.graph(), arrange(builder, view, {atoms}), {View::kBatch, 0});
}

std::string_view Along::name() const {
  static constexpr std::array<std::string_view, 3> kImage{"channels", "height", "width"};
  static constexpr std::array<std::string_view, 2> kSequence{"time", "features"};
  if (order.size() == 3) return kImage[at];
  return order.size() == 2 ? kSequence[at] : "features";
}

View Along::with(std::size_t node, std::int64_t extent) const {
  View result = view;
  result.node = node;
  // The atoms of the node's axes lie in order: those of this axis begin after those of the axes before it.
  std::size_t first = 0;
  for (std::size_t i = 0; i < at; ++i) first += atoms_of(view, order[i]).size();
  const std::size_t old = view.axes[axis].size(), now = extent == 1 ? 0 : 1;
  const auto begin = result.atoms.begin() + static_cast<std::ptrdiff_t>(first);
  result.atoms.erase(begin, begin + static_cast<std::ptrdiff_t>(old));
  if (now == 1) result.atoms.insert(result.atoms.begin() + static_cast<std::ptrdiff_t>(first), extent);
  for (View::Axis& other : result.axes) {
    for (int& atom : other) {
      if (atom >= static_cast<int>(first + old)) atom += static_cast<int>(now) - static_cast<int>(old);
    }
  }
  result.axes[axis] = now == 1 ? View::Axis{static_cast<int>(first)} : View::Axis{};
  return result;
}

Along along(ModelBuilder& builder, const View& view, std::size_t axis) {
  const std::vector<std::size_t> natural = natural_order(builder, view);
  if (std::find(natural.begin(), natural.end(), axis) != natural.end()) {
    std::vector<std::vector<std::size_t>> order;
    for (const std::size_t one : natural) order.push_back({one});
    return place(builder, view, std::move(order), axis);
  }
  if (const auto together = in_memory_order(builder, view, axis)) return *together;
  std::vector<std::size_t> before, after;
  for (std::size_t i = 0; i < view.rank(); ++i) {
    if (i != axis) (i < axis ? before : after).push_back(i);
  }
  return place(builder, view, {before, {axis}, after}, axis);
}

Along along(ModelBuilder& builder, const View& view, const Along& like) {
  return place(builder, view, like.order, like.axis);
}

}  // namespace convoke::interop::onnx

#include "interop/onnx/view.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "convoke/core/error.hpp"

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

namespace {

Along place(ModelBuilder& builder, const View& view, std::vector<std::vector<std::size_t>> order,
            std::size_t axis) {
  std::vector<View::Axis> groups;
  std::size_t at = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    groups.push_back(atoms_of(view, order[i]));
    if (order[i] == std::vector<std::size_t>{axis}) at = i;
  }
  return {arranged(builder, view, groups), std::move(order), axis, at, 1};
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
  const auto lies_before = [&](std::size_t a, std::size_t b) {
    return atoms_of(view, {a}).front() < atoms_of(view, {b}).front();
  };
  std::sort(before.begin(), before.end(), lies_before);
  std::sort(after.begin(), after.end(), lies_before);
  View::Axis all = atoms_of(view, before), rest = atoms_of(view, after);
  all.insert(all.end(), rest.begin(), rest.end());
  if (!std::is_sorted(all.begin(), all.end())) return std::nullopt;
  std::vector<std::vector<std::size_t>> order{after};
  if (!before.empty()) order.insert(order.begin(), before);
  std::vector<View::Axis> groups;
  for (const auto& axes : order) groups.push_back(atoms_of(view, axes));
  return Along{arranged(builder, view, groups), order, axis, order.size() - 1,
               view.extent(rest) / view.extent(own)};
}

}  // namespace

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

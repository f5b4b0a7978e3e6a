#include "interop/onnx/view.hpp"

#include <algorithm>
#include <numeric>

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

View::Axis atoms_of(const View& view, const std::vector<std::size_t>& axes) {
  View::Axis atoms;
  for (const std::size_t axis : axes) {
    std::copy_if(view.axes[axis].begin(), view.axes[axis].end(), std::back_inserter(atoms),
                 [](int atom) { return atom != View::kBatch; });
  }
  return atoms;
}

}  // namespace convoke::interop::onnx

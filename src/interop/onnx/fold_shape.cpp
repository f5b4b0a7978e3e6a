#include "interop/onnx/folding.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace convoke::interop::onnx {
namespace {

Constant squeezed(Call& call, const Constant& from) {
  const auto list = call.list("axes", 1);
  std::vector<std::int64_t> left;
  const std::size_t rank = from.shape.rank();
  const std::vector<std::size_t> gone = list ? call.axes(*list, rank) : std::vector<std::size_t>{};
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const bool named = std::find(gone.begin(), gone.end(), axis) != gone.end();
    if (list ? !named : from.shape[axis] != 1) left.push_back(from.shape[axis]);
  }
  return from.reshaped(Shape(left));
}

Constant unsqueezed(Call& call, const Constant& from) {
  const std::vector<std::int64_t> list = call.list("axes", 1).value_or(std::vector<std::int64_t>{});
  std::vector<std::int64_t> extents = from.shape.extents();
  std::vector<std::size_t> added = call.axes(list, extents.size() + list.size());
  std::sort(added.begin(), added.end());
  for (const std::size_t axis : added) {
    if (axis > extents.size()) call.refuse("adds an axis twice");
    extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  }
  return from.reshaped(Shape(extents));
}

Constant reshaped(Call& call, const Constant& from) {
  std::vector<std::int64_t> to =
      call.has_attribute("shape") ? call.integers("shape") : call.numbers(1, "shape");
  std::int64_t known = 1;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0 && i < from.shape.rank()) to[i] = from.shape[i];
    if (to[i] < -1) call.refuse("has a negative extent");
    if (to[i] > 0) known *= std::min<std::int64_t>(to[i], 1 << 30);
  }
  for (std::int64_t& extent : to) {
    if (extent == -1) extent = from.shape.elements() / std::max<std::int64_t>(1, known);
  }
  if (!checked_elements(Shape(to))) call.refuse("has an absurd shape");
  return from.reshaped(Shape(to));
}

Constant flattened(Call& call, const Constant& from) {
  const std::int64_t axis = call.integer("axis", 1);
  const auto rank = static_cast<std::int64_t>(from.shape.rank());
  const std::int64_t first = axis < 0 ? axis + rank : axis;
  std::int64_t before = 1, all = from.shape.elements();
  if (first < 0 || first > rank || all == 0) call.refuse("cannot be flattened");
  for (std::int64_t i = 0; i < first; ++i) before *= from.shape[static_cast<std::size_t>(i)];
  return from.reshaped({before, all / before});
}

Constant transposed(Call& call, const Constant& from) {
  std::vector<std::int64_t> order = call.integers("perm");
  if (order.empty()) {
    order.resize(from.shape.rank());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  const std::vector<std::size_t> axes = call.axes(order, from.shape.rank());
  std::vector<std::size_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (axes.size() != from.shape.rank() || std::unique(sorted.begin(), sorted.end()) != sorted.end()) {
    call.refuse("has a perm that is not a permutation of its axes");
  }
  return from.transposed(axes);
}

Constant cast(Call& call, const Constant& from) {
  const std::int64_t to = call.integer("to", 1);
  const bool real = to == 1 || to == 10 || to == 11 || to == 16;
  if (real != from.whole) return from;
  if (real) {
    if (!from.is_numbers()) {
      Constant result = from;
      result.whole = false;
      return result;
    }
    return Array::of(from).as_floats().constant();
  }
  Array whole = Array::of(from).as_whole();
  if (to == 9) {
    for (Dim& dim : whole.numbers) dim.value = dim.value != 0 ? 1 : 0;
  }
  return whole.constant();
}

struct Lazy {
  std::string_view name;
  Constant (*change)(Call& call, const Constant& from);
};
constexpr std::array kLazy{
    Lazy{"Identity", [](Call&, const Constant& from) { return from; }},
    Lazy{"Dropout", [](Call&, const Constant& from) { return from; }},
    Lazy{"Cast", cast},
    Lazy{"Reshape", reshaped},
    Lazy{"Flatten", flattened},
    Lazy{"Transpose", transposed},
    Lazy{"Squeeze", squeezed},
    Lazy{"Unsqueeze", unsqueezed},
};

}  // namespace

bool fold_shape(Call& call) {
  if (const Lazy* lazy = entry_for(call, kLazy)) {
    call.give(lazy->change(call, call.constant(0, "input")));
  } else if (call.node().op == "Shape") {
    call.give(Constant::of_list(call.constant(0, "input").shape.extents()));
  } else if (call.node().op == "Size") {
    call.give(Constant::of_numbers({}, {{call.constant(0, "input").shape.elements()}}));
  } else {
    return false;
  }
  return true;
}

}  // namespace convoke::interop::onnx

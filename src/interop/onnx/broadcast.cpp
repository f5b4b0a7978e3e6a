#include <fmt/format.h>

#include <algorithm>

#include "interop/onnx/operators.hpp"

namespace convoke::interop::onnx {

View with_rank(const View& view, std::size_t rank) {
  View wide = view;
  if (rank > view.rank()) wide.axes.insert(wide.axes.begin(), rank - view.rank(), View::Axis{});
  return wide;
}

View repeated(Call& call, const View& view, const std::vector<Dim>& to) {
  if (to.size() > View::kMostAxes) call.refuse(fmt::format("repeats its input along {} axes", to.size()));
  View x = with_rank(view, to.size());
  std::vector<std::size_t> axes;
  std::int64_t copies = 1;
  constexpr std::int64_t kMostCopies = 1 << 20;
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    if (x.dim(axis) == to[axis]) continue;
    if (x.dim(axis) != Dim{1} || to[axis].batch || to[axis].value < 1 || to[axis].value > kMostCopies) {
      call.refuse(fmt::format("cannot repeat {} to {}", to_string(view.dims()), to_string(to)));
    }
    axes.push_back(axis);
    copies *= to[axis].value;
    if (copies > kMostCopies) call.refuse("repeats its input too often");
  }
  if (axes.empty()) return x;
  // (K) -> (K, 1, 1) -> (K, 1, copies) by nearest neighbors
  View::Axis all;
  for (int atom = 0; atom < static_cast<int>(x.atoms.size()); ++atom) all.push_back(atom);
  const std::size_t pixel = arrange(call.builder(), x, {all, {}, {}});
  x.node = call.add({{"layer", "resize"}, {"size", Value::Array{1, copies}}}, {pixel});
  for (const std::size_t axis : axes) {
    x.axes[axis] = {static_cast<int>(x.atoms.size())};
    x.atoms.push_back(to[axis].value);
  }
  return x;
}

std::vector<View> broadcast_all(Call& call, std::vector<View> views) {
  std::vector<Dim> to = views.front().dims();
  for (const View& view : views) to = broadcast(to, view.dims());
  for (View& view : views) view = repeated(call, view, to);
  return views;
}

Spread spread(Call& call, const View& view, const Constant& constant) {
  const std::vector<Dim> own = constant.dims();
  const std::vector<Dim> to = broadcast(view.dims(), own);
  const View x = repeated(call, view, to);
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::size_t axis = i + to.size() - own.size();
    if (own[i].value == 1) continue;
    if (x.has_batch(axis)) call.refuse("has a constant that differs between the samples of a batch");
    axes.push_back(axis);
  }
  return {with_channels(call.builder(), x, atoms_of(x, axes)),
          constant.reshaped({constant.shape.elements()})};
}

Aligned aligned(Call& call, const std::vector<View>& views) {
  const View& first = views.front();
  const auto shape_of = [&](const View& view) -> const Shape& { return call.graph().node(view.node).shape; };
  Aligned result{{}, first};
  const bool alike = std::all_of(views.begin(), views.end(), [&](const View& view) {
    return view.atoms == first.atoms && view.axes == first.axes && shape_of(view) == shape_of(first);
  });
  if (alike) {
    for (const View& view : views) result.nodes.push_back(view.node);
    return result;
  }
  const std::vector<std::size_t> order = natural_order(call.builder(), first);
  if (!order.empty()) {
    for (const View& view : views) result.nodes.push_back(arranged(call.builder(), view, order).node);
    // The atoms may divide the axes of each input differently: one atom for each axis does for all.
    std::vector<int> roles(first.rank(), View::kOne);
    for (std::size_t i = 0; i < order.size(); ++i) roles[order[i]] = static_cast<int>(i);
    roles[*first.batch_axis()] = View::kBatch;
    result.view = View::of(call.graph(), result.nodes[0], roles);
    return result;
  }
  for (const View& view : views) result.nodes.push_back(flattened(call.builder(), view).node);
  View whole = View::of(call.graph(), result.nodes[0], {View::kBatch, 0});
  const std::optional<View> divided = whole.reshaped(first.dims());
  if (!divided) call.refuse(fmt::format("mixes the batch with other axes: {}", to_string(first.dims())));
  result.view = *divided;
  return result;
}

}  // namespace convoke::interop::onnx

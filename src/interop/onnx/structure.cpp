#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "interop/onnx/operators.hpp"

// Operators that only change how a value is seen (view.hpp), or the shape of a constant.

namespace convoke::interop::onnx {
namespace {

constexpr std::int64_t kOpen = -1;  // an extent that follows from the others

/// Replaces an open extent by what is left of `elements`; false if that is not a whole number, or if the
/// product differs.
bool complete(std::vector<Dim>& to, std::int64_t elements) {
  if (elements == 0) {  // of a constant
    std::ranges::replace(to, Dim{kOpen}, Dim{0});
    return std::ranges::count(to, Dim{0}) > 0;
  }
  std::int64_t known = 1;
  for (const Dim dim : to) {
    if (dim.value == kOpen) continue;
    if (dim.value < 1 || known > elements / dim.value) return false;
    known *= dim.value;
  }
  for (Dim& dim : to) {
    if (dim.value != kOpen) continue;
    if (elements % known != 0) return false;
    dim.value = elements / known;
    known = elements;
  }
  return known == elements;
}

/// Returns the ways to see the batch in these extents, which were written for a batch of `batch`.
std::vector<std::vector<Dim>> readings(const std::vector<Dim>& to, std::int64_t elements,
                                       std::int64_t batch) {
  std::vector<std::vector<Dim>> all;
  const auto add = [&](std::vector<Dim> dims) {
    if (complete(dims, elements)) all.push_back(std::move(dims));
  };
  if (std::any_of(to.begin(), to.end(), [](Dim dim) { return dim.batch; })) {
    add(to);
    return all;
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::vector<Dim> dims = to;
    dims[i].batch = true;
    if (to[i].value != kOpen) {
      if (to[i].value % batch != 0) continue;
      dims[i].value /= batch;
    }
    add(std::move(dims));
  }
  return all;
}

/// Says how unusual it is that the batch lies in this axis of a value with others. Exporters join heads to
/// the batch, (N x heads, L, d), or time steps to it, (L x N, F); features they leave alone.
int unusual(const View& view) {
  const auto mixed = std::find_if(view.axes.begin(), view.axes.end(), [](const View::Axis& axis) {
    return std::find(axis.begin(), axis.end(), View::kBatch) != axis.end();
  });
  if (mixed == view.axes.end()) return 0;
  return (mixed + 1 == view.axes.end() ? 2 : 0) + (mixed->front() == View::kBatch ? 0 : 1);
}

/// `open`: the axis that is the batch if no axis is the batch alone; -1 if that is not known.
std::optional<View> read_as(const View& view, const std::vector<std::vector<Dim>>& readings,
                            std::ptrdiff_t open) {
  std::optional<View> found;
  for (const std::vector<Dim>& dims : readings) {
    std::optional<View> candidate = view.reshaped(dims);
    if (!candidate) continue;
    if (candidate->batch_axis()) return candidate;
    if (open >= 0 && !dims[static_cast<std::size_t>(open)].batch) continue;
    if (!found || unusual(*candidate) < unusual(*found)) found = std::move(candidate);
  }
  return found;
}

Dim times(Dim a, Dim b) { return {a.value * b.value, a.batch || b.batch}; }

constexpr std::int64_t kFloat = 1, kInt64 = 7, kBool = 9;  // TensorProto.DataType

Constant cast(const Constant& from, std::int64_t to, bool real) {
  if (to == kBool) {
    const Array zero{.shape = {}, .whole = true, .numbers = {{0}}, .floats = {}};
    Array truth = combined("Equal", Array::of(from), zero);
    for (Dim& equal : truth.numbers) equal.value = 1 - equal.value;
    return truth.constant();
  }
  if (real != from.whole) return from;
  if (real && !from.is_numbers()) {
    Constant result = from;
    result.whole = false;
    return result;
  }
  const Array array = Array::of(from);
  return (real ? array.as_floats() : array.as_whole()).constant();
}

void convert_identity(Call& call) { call.give(call.value(0)); }

void give_cast(Call& call, std::int64_t to) {
  const bool real = is_real(to);
  if (call.is_constant(0)) return call.give(cast(call.constant(0, "input"), to, real));
  const View& x = call.view(0);
  if (is_boolean(call.import().source, call.node().inputs[0])) return call.give(x);  // 1 and 0 in any type
  if (to == kBool) return call.give(boolean_of(call, x));
  const bool tokens = call.graph().node(x.node).shape.type == nn::ValueType::kToken;
  if (real == tokens) {
    call.refuse(tokens ? "uses tokens as numbers" : "rounds numbers that depend on the sample");
  }
  call.give(x);
}

void convert_cast(Call& call) { give_cast(call, call.integer("to", kFloat)); }

// The type is that of the second input.
void convert_cast_like(Call& call) {
  if (call.is_constant(1)) {
    const Constant& like = call.constant(1, "target");
    return give_cast(call, like.type != 0 ? like.type : like.whole ? kInt64 : kFloat);
  }
  const bool tokens = call.graph().node(call.view(1).node).shape.type == nn::ValueType::kToken;
  give_cast(call, tokens ? kInt64 : kFloat);
}

void convert_transpose(Call& call) {
  const std::size_t rank = dims_of(call.value(0)).size();
  std::vector<std::int64_t> order = call.integers("perm");
  if (order.empty()) {
    order.resize(rank);
    std::iota(order.rbegin(), order.rend(), 0);
  }
  const std::vector<std::size_t> axes = call.axes(order, rank);
  if (axes.size() != rank) call.refuse("has a perm that is not a permutation of its axes");
  call.give(std::visit([&](const auto& x) { return Known(x.transposed(axes)); }, call.value(0)));
}

void convert_reshape(Call& call) {
  const std::vector<Dim> dims = dims_of(call.value(0));
  std::vector<Dim> to;
  if (call.has_attribute("shape")) {
    for (const std::int64_t extent : call.integers("shape")) to.push_back({extent});
  } else {
    to = call.shape(1);
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] != Dim{0} || call.integer("allowzero", 0) != 0) continue;
    if (i >= dims.size()) call.refuse(fmt::format("has no axis {} to copy", i));
    to[i] = dims[i];
  }
  give_reshaped(call, call.value(0), std::move(to));
}

void convert_flatten(Call& call) {
  const std::vector<Dim> dims = dims_of(call.value(0));
  std::int64_t first = call.integer("axis", 1);
  const std::int64_t rank = std::ssize(dims);
  if (first < 0) first += rank;
  if (first < 0 || first > rank) call.refuse(fmt::format("has no axis {}", first));
  Dim before{1}, after{1};
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    Dim& side = axis < first ? before : after;
    side = times(side, dims[static_cast<std::size_t>(axis)]);
  }
  give_reshaped(call, call.value(0), {before, after});
}

void convert_squeeze(Call& call) {
  const std::vector<Dim> dims = dims_of(call.value(0));
  const auto list = call.list("axes", 1);
  const std::vector<std::size_t> gone = list ? call.axes(*list, dims.size()) : std::vector<std::size_t>{};
  std::vector<Dim> left;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const bool named = std::ranges::find(gone, axis) != gone.end(), one = dims[axis] == Dim{1};
    if (named && !one) {
      call.refuse(fmt::format("removes axis {} of {}", axis, to_string(dims)),
                  dims[axis].batch ? "Convoke computes any number of samples: export without this node" : "");
    }
    if (list ? !named : !one) left.push_back(dims[axis]);
  }
  give_reshaped(call, call.value(0), std::move(left));
}

void convert_unsqueeze(Call& call) {
  std::vector<Dim> dims = dims_of(call.value(0));
  const auto list = call.list("axes", 1);
  if (!list) call.refuse("has no axes");
  const std::size_t rank = dims.size() + list->size();
  if (rank > View::kMostAxes) call.refuse("has too many axes");
  std::vector<std::size_t> added = call.axes(*list, rank);
  std::sort(added.begin(), added.end());
  for (const std::size_t axis : added) dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), Dim{1});
  give_reshaped(call, call.value(0), std::move(dims));
}

std::int64_t block_of(const Call& call, const View& x) {
  const std::int64_t block = call.integer("blocksize", 0);
  if (x.rank() != 4 || block < 1 || block > 1024) call.refuse("needs images (N, C, H, W) and a block size");
  return block;
}

void convert_depth_to_space(Call& call) {
  const View& x = call.view(0);
  const std::int64_t b = block_of(call, x), c = x.dim(1).value / (b * b);
  const bool columns_first = call.text("mode", "DCR") == "CRD";
  const Dim n = x.dim(0), h = x.dim(2), w = x.dim(3);
  const View split = columns_first ? reshaped(call, x, {n, {c}, {b}, {b}, h, w})
                                   : reshaped(call, x, {n, {b}, {b}, {c}, h, w});
  const View moved =
      columns_first ? split.transposed({0, 1, 4, 2, 5, 3}) : split.transposed({0, 3, 4, 1, 5, 2});
  call.give(reshaped(call, moved, {n, {c}, times(h, {b}), times(w, {b})}));
}

void convert_space_to_depth(Call& call) {
  const View& x = call.view(0);
  const std::int64_t b = block_of(call, x);
  const Dim n = x.dim(0), c = x.dim(1);
  const std::int64_t h = x.dim(2).value / b, w = x.dim(3).value / b;
  const bool columns_first = call.text("mode", "DCR") == "CRD";
  const View split = reshaped(call, x, {n, c, {h}, {b}, {w}, {b}});
  const View moved =
      columns_first ? split.transposed({0, 1, 3, 5, 2, 4}) : split.transposed({0, 3, 5, 1, 2, 4});
  call.give(reshaped(call, moved, {n, times(c, {b * b}), {h}, {w}}));
}

void convert_shape(Call& call) {
  const std::vector<Dim> dims = dims_of(call.value(0));
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto place = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = place(call.integer("start", 0)), end = place(call.integer("end", rank));
  const std::vector<Dim> part(dims.begin() + start, dims.begin() + std::max(start, end));
  call.give(Constant::of_numbers({static_cast<std::int64_t>(part.size())}, part));
}

void convert_size(Call& call) {
  Dim size{1};
  for (const Dim dim : dims_of(call.value(0))) size = times(size, dim);
  call.give(Constant::of_numbers({}, {size}));
}

}  // namespace

View reshaped(Call& call, const View& view, std::vector<Dim> to) {
  if (to.size() > View::kMostAxes) call.refuse(fmt::format("reshapes to {} axes", to.size()));
  const std::int64_t elements = view.extent(atoms_of(view, all_axes(view.rank())));
  const std::vector<std::vector<Dim>> ways = readings(to, elements, call.import().input.batch);
  // A file that leaves the batch open leaves its axis open, too.
  const auto axis = std::find(to.begin(), to.end(), Dim{kOpen});
  const std::ptrdiff_t open = call.import().input.open_batch && axis != to.end() ? axis - to.begin() : -1;
  if (auto result = read_as(view, ways, open)) return *result;
  if (view.axes.at(0) == View::Axis{View::kBatch}) {
    if (auto result = read_as(flattened(call.builder(), view), ways, open)) return *result;
  }
  call.refuse(
      fmt::format("cannot give {} the shape {} with any batch", to_string(view.dims()), to_string(to)),
      "export the model with fixed sizes and a dynamic batch axis");
}

void give_reshaped(Call& call, const Known& value, std::vector<Dim> to) {
  if (const View* view = std::get_if<View>(&value)) return call.give(reshaped(call, *view, std::move(to)));
  const Constant& from = std::get<Constant>(value);
  std::vector<std::int64_t> extents;
  const bool fits = complete(to, from.shape.elements());
  for (const Dim dim : to) {
    if (!fits || dim.batch || dim.value < 0) {
      call.refuse(
          fmt::format("cannot give a constant {} the shape {}", from.shape.to_string(), to_string(to)));
    }
    extents.push_back(dim.value);
  }
  if (!checked_elements(Shape(extents))) call.refuse("has an absurd shape");
  call.give(from.reshaped(Shape(extents)));
}

const std::initializer_list<Operator> kStructureOperators{
    Operator{"Cast", convert_cast, true},
    Operator{"CastLike", convert_cast_like, true},
    Operator{"DepthToSpace", convert_depth_to_space},
    Operator{"Flatten", convert_flatten, true},
    Operator{"Identity", convert_identity, true},
    Operator{"Reshape", convert_reshape, true},
    Operator{"Shape", convert_shape, true},
    Operator{"Size", convert_size, true},
    Operator{"SpaceToDepth", convert_space_to_depth},
    Operator{"Squeeze", convert_squeeze, true},
    Operator{"Transpose", convert_transpose, true},
    Operator{"Unsqueeze", convert_unsqueeze, true},
};

}  // namespace convoke::interop::onnx

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "interop/onnx/operators.hpp"

// Operators that cut, pad, repeat and join.

namespace convoke::interop::onnx {
namespace {

/// Returns the elements from `first` on along an axis.
Known part_of(Call& call, const Known& x, std::size_t axis, std::int64_t first, std::int64_t size) {
  if (const View* view = std::get_if<View>(&x)) return sliced(call, *view, axis, first, size);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(size));
  std::iota(indices.begin(), indices.end(), first);
  return picked(call, x, axis, std::move(indices));
}

void convert_split(Call& call) {
  const Known& x = call.value(0);
  const std::vector<Dim> dims = dims_of(x);
  const std::size_t axis = call.axis(call.integer("axis", 0), dims.size());
  if (dims[axis].batch) call.refuse("splits the batch");
  const std::size_t outputs = call.node().outputs.size();
  std::vector<std::int64_t> sizes = call.list("split", 1).value_or(std::vector<std::int64_t>{});
  if (sizes.empty()) {
    const auto parts = static_cast<std::int64_t>(outputs), extent = dims[axis].value;
    const std::int64_t size = (extent + parts - 1) / parts;
    for (std::int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<std::int64_t>(extent - i * size, 0, size));
  }
  if (sizes.size() != outputs) call.refuse(fmt::format("has {} sizes for {} outputs", sizes.size(), outputs));
  std::int64_t first = 0;
  for (std::size_t i = 0; i < outputs; ++i) {
    if (sizes[i] < 0 || sizes[i] > dims[axis].value - first) call.refuse("has a size beyond its input");
    if (call.is_constant(0) || call.wants(i)) call.give(part_of(call, x, axis, first, sizes[i]), i);
    first += sizes[i];
  }
  if (first != dims[axis].value) call.refuse(fmt::format("takes {} elements of {}", first, dims[axis].value));
}

/// Takes `count` indices, `step` apart, from `first` on: the axis is seen as (extent / step, step), or cut to
/// such an extent. Nothing if there are too few indices.
std::optional<View> strided(Call& call, const View& x, std::size_t axis, std::int64_t first,
                            std::int64_t step, std::int64_t count) {
  const std::int64_t extent = x.dim(axis).value;
  const std::int64_t rows = extent / step, row = first / step;
  if (extent % step != 0 || row + count > rows) {
    const std::int64_t usable = (extent - first) / step * step;
    if (count * step > usable) return std::nullopt;
    return strided(call, sliced(call, x, axis, first, usable), axis, 0, step, count);
  }
  std::vector<Dim> to = x.dims();
  to[axis].value = rows;
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis) + 1, Dim{step});
  View result = sliced(call, reshaped(call, x, to), axis + 1, first % step, 1);
  result.axes.erase(result.axes.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  return sliced(call, result, axis, row, count);
}

/// Takes indices that are `step` apart: forwards by a view if that is possible, otherwise part by part.
Known every(Call& call, const View& x, std::size_t axis, const std::vector<std::int64_t>& indices,
            std::int64_t step) {
  if (indices.empty()) call.refuse("takes nothing of its input");
  const auto count = static_cast<std::int64_t>(indices.size());
  if (step == 1 || count == 1) return sliced(call, x, axis, indices[0], count);
  const std::optional<View> view = step > 1 ? strided(call, x, axis, indices[0], step, count) : std::nullopt;
  return view ? *view : picked(call, x, axis, indices);
}

std::vector<Dim> dims_of(const Call& call, const char* attribute, std::size_t input) {
  std::vector<Dim> dims = Constant::of_list(call.integers(attribute)).numbers;
  if (!call.has_attribute(attribute) && call.has(input)) {
    const Constant& given = call.constant(input, attribute);
    if (!given.is_numbers()) call.refuse(fmt::format("its {} are not whole numbers", attribute));
    dims = given.numbers;
  }
  return dims;
}

void convert_slice(Call& call) {
  Known x = call.value(0);
  const std::vector<Dim> starts = dims_of(call, "starts", 1), ends = dims_of(call, "ends", 2);
  std::vector<Dim> list = dims_of(call, "axes", 3), steps = dims_of(call, "steps", 4);
  if (list.empty()) {
    for (std::size_t i = 0; i < starts.size(); ++i) list.push_back({static_cast<std::int64_t>(i)});
  }
  if (steps.empty()) steps.assign(starts.size(), Dim{1});
  if (starts.size() != ends.size() || starts.size() != list.size() || starts.size() != steps.size()) {
    call.refuse("has starts, ends, axes and steps of different lengths");
  }
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::vector<Dim> dims = dims_of(x);
    const std::size_t axis = call.axis(list[i].value, dims.size());
    if (dims[axis].batch) {
      constexpr std::int64_t kOpenEnd = 1000000;  // exporters write some huge number for "to the end"
      const bool whole =
          starts[i].value == 0 && steps[i].value == 1 && (ends[i].batch || ends[i].value >= kOpenEnd);
      if (!whole) call.refuse("takes a part of the batch");
      continue;
    }
    if (steps[i].value == 0) call.refuse("has a step of 0");
    if (starts[i].batch || ends[i].batch || steps[i].batch)
      call.refuse("takes a part that depends on the size of the batch");
    const auto indices = slice_indices(dims[axis].value, starts[i].value, ends[i].value, steps[i].value);
    if (const View* view = std::get_if<View>(&x)) {
      x = every(call, *view, axis, indices, steps[i].value);
    } else {
      x = picked(call, x, axis, indices);
    }
  }
  call.give(std::move(x));
}

/// Adds zeroes around a node as an image.
std::size_t with_border(Call& call, std::size_t image, std::int64_t top, std::int64_t bottom,
                        std::int64_t left, std::int64_t right) {
  return call.add({{"layer", "zero_pad"}, {"padding", Value::Array{top, bottom, left, right}}}, {image});
}

constexpr std::int64_t kMostPadding = 1 << 16;

/// Repeats the border, or mirrors the elements next to it, along one axis.
View extended(Call& call, const View& x, std::size_t axis, std::int64_t before, std::int64_t after,
              bool mirrored) {
  const std::int64_t extent = x.dim(axis).value;
  constexpr std::int64_t kMostPlaces = 64;
  if (before > kMostPlaces || after > kMostPlaces || (mirrored && std::max(before, after) >= extent)) {
    call.refuse("pads by too many elements");
  }
  std::vector<View> parts;
  for (std::int64_t i = before; i > 0; --i) parts.push_back(sliced(call, x, axis, mirrored ? i : 0, 1));
  parts.push_back(x);
  for (std::int64_t i = 1; i <= after; ++i) {
    parts.push_back(sliced(call, x, axis, mirrored ? extent - 1 - i : extent - 1, 1));
  }
  return joined(call, parts, axis);
}

void convert_pad(Call& call) {
  View x = call.view(0);
  std::vector<std::int64_t> pads = call.has_attribute("paddings")
                                       ? call.integers("paddings")
                                       : call.list("pads", 1).value_or(std::vector<std::int64_t>{});
  std::vector<std::int64_t> list;
  if (call.has(3)) list = call.numbers(3, "axes");
  if (!call.has(3)) {
    for (std::size_t axis = 0; axis < x.rank(); ++axis) list.push_back(static_cast<std::int64_t>(axis));
  }
  const std::vector<std::size_t> axes = call.axes(list, x.rank());
  if (pads.size() != 2 * axes.size()) call.refuse(fmt::format("has {} pads", pads.size()));
  std::vector<std::int64_t> before(x.rank(), 0), after(x.rank(), 0);
  bool any = false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t& first = before[axes[i]] = pads[i];
    std::int64_t& last = after[axes[i]] = pads[i + axes.size()];
    if (std::max(std::abs(first), std::abs(last)) > kMostPadding) call.refuse("pads by too many elements");
    if ((first != 0 || last != 0) && x.has_batch(axes[i])) call.refuse("pads the batch");
    if (first < 0 || last < 0) {  // cuts off
      const std::int64_t cut = std::min<std::int64_t>(first, 0), end = std::min<std::int64_t>(last, 0);
      x = sliced(call, x, axes[i], -cut, x.dim(axes[i]).value + cut + end);
      first -= cut;
      last -= end;
    }
    any = any || first > 0 || last > 0;
  }
  if (!any) return call.give(x);
  const std::string mode = call.text("mode", "constant");
  if (mode != "constant") {
    if (mode != "reflect" && mode != "edge") call.refuse(fmt::format("has the mode \"{}\"", mode));
    for (const std::size_t axis : axes) {
      if (before[axis] + after[axis] == 0) continue;
      x = extended(call, x, axis, before[axis], after[axis], mode == "reflect");
    }
    return call.give(x);
  }
  double value = call.number("value", 0);
  if (call.has(2)) value = call.constant(2, "value").scalar().value_or(0.0F);
  if (!std::isfinite(value)) call.refuse("pads with a value that is not finite");
  const View padded = zero_padded(call, x, before, after);
  if (value == 0) return call.give(padded);
  // where(inside, padded, value): x - value, padded with zeros, would lose the digits of x below those of
  // value.
  const View inside = zero_padded(call, computed(call, "where", {0.0, x, 1.0}), before, after);
  call.give(computed(call, "where", {inside, padded, value}));
}

void convert_expand(Call& call) {
  const View& x = call.view(0);
  std::vector<Dim> to = call.shape(1);
  if (to.size() < x.rank()) to.insert(to.begin(), x.rank() - to.size(), Dim{1});
  for (std::size_t i = 0; i < x.rank(); ++i) {
    Dim& wanted = to[i + to.size() - x.rank()];
    const Dim own = x.dim(i);
    if (wanted == Dim{1} || (own.batch && wanted.value == own.value * call.import().input.batch))
      wanted = own;
  }
  call.give(repeated(call, x, to));
}

void convert_tile(Call& call) {
  View x = call.view(0);
  const std::vector<std::int64_t> times = call.numbers(1, "repeats");
  if (times.size() != x.rank()) call.refuse("has not one number of repeats for each axis");
  constexpr std::int64_t kMostParts = 64;
  std::vector<Dim> to = x.dims();
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    if (times[axis] == 1) continue;
    if (x.has_batch(axis) || times[axis] < 1) call.refuse("repeats the batch, or nothing");
    if (x.axes[axis].empty()) {
      to = x.dims();
      to[axis].value = times[axis];
      x = repeated(call, x, to);
    } else {
      if (times[axis] > kMostParts) call.refuse("repeats its input too often");
      x = joined(call, std::vector<View>(static_cast<std::size_t>(times[axis]), x), axis);
    }
  }
  call.give(x);
}

Array joined_constants(Call& call, std::size_t axis) {
  std::vector<Array> parts;
  bool whole = true;
  std::int64_t extent = 0, first = 0;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    const Array& part = parts.emplace_back(array_of(call, i));
    if (part.shape.rank() <= axis ||
        with_extent(part.shape, axis, 0) != with_extent(parts[0].shape, axis, 0)) {
      call.refuse(fmt::format("joins {} and {}", parts[0].shape.to_string(), part.shape.to_string()));
    }
    whole = whole && part.whole;
    extent += part.shape[axis];
  }
  Array all = Array::zeros(with_extent(parts[0].shape, axis, extent), whole);
  for (const Array& part : parts) {
    all.put(whole ? part : part.as_floats(), axis, first);
    first += part.shape[axis];
  }
  return all;
}

/// Joins values with constants before or after them, as the class token of a vision transformer: the values
/// get zeroes in their places, to which the constants are added.
View joined_with_constants(Call& call, std::size_t axis) {
  std::vector<View> views;
  std::vector<std::pair<std::int64_t, Array>> constants;  // places before them, without the views' places
  std::int64_t before = 0, all = 0;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (!call.is_constant(i)) {
      if (!views.empty() && all > before) call.refuse("joins a constant between two values");
      if (views.empty()) before = all;
      views.push_back(call.view(i));
      continue;
    }
    const Array part = Array::of(call.constant(i, "input")).as_floats();
    if (part.size() == 0) continue;
    if (part.shape.rank() <= axis) call.refuse(fmt::format("joins a constant {}", part.shape.to_string()));
    constants.emplace_back(all, part);
    all += part.shape[axis];
  }
  View x = joined(call, views, axis);
  if (constants.empty()) return x;
  const std::int64_t own = x.dim(axis).value;
  std::vector<std::int64_t> extents, first(x.rank(), 0), last(x.rank(), 0);
  for (const Dim dim : x.dims()) extents.push_back(dim.batch ? 1 : dim.value);
  extents[axis] = own + all;
  Array added = Array::zeros(Shape(extents));
  for (const auto& [place, part] : constants) {
    extents[axis] = part.shape[axis];
    if (part.shape != Shape(extents)) {
      const bool each = part.shape[0] > 1 && part.shape[0] == call.import().input.batch;
      call.refuse(fmt::format("joins {} and a constant {}", to_string(x.dims()), part.shape.to_string()),
                  each ? "export the model with a dynamic batch axis" : "");
    }
    added.put(part, axis, place < before ? place : place + own);
  }
  first[axis] = before;
  last[axis] = all - before;
  x = zero_padded(call, x, first, last);
  return shifted_by(call, x, counted(call, added));
}

void convert_concat(Call& call) {
  if (call.inputs() == 0) call.refuse("has no inputs");
  std::size_t value = 0;
  while (value < call.inputs() && call.is_constant(value)) ++value;
  const bool constant = value == call.inputs();
  const std::vector<Dim> dims = dims_of(call.value(constant ? 0 : value));
  const std::size_t axis = call.axis(call.integer("axis", 0), dims.size());
  if (constant) return give_array(call, joined_constants(call, axis));
  if (dims[axis].batch) call.refuse("joins samples along the batch");
  call.give(joined_with_constants(call, axis));
}

}  // namespace

View sliced(Call& call, const View& view, std::size_t axis, std::int64_t first, std::int64_t size) {
  if (first == 0 && size == view.dim(axis).value) return view;
  if (first < 0 || size < 1 || first + size > view.dim(axis).value) {
    call.refuse(fmt::format("takes {} indices from {} on of axis {} of {}", size, first, axis,
                            to_string(view.dims())));
  }
  const Along from = along(call.builder(), view, axis);
  const Settings layer{
      {"layer", "slice"}, {"axis", from.name()}, {"begin", first * from.inner}, {"size", size * from.inner}};
  return from.with(call.add(layer, {from.view.node}), size);
}

Known picked(Call& call, const Known& value, std::size_t axis, std::vector<std::int64_t> indices) {
  const auto [extent, batch] = dims_of(value)[axis];
  constexpr std::size_t kMostParts = 256;
  if (batch) call.refuse("picks samples of the batch");
  for (std::int64_t& index : indices) {
    if (index < 0) index += extent;
    if (index < 0 || index >= extent) call.refuse(fmt::format("has no index {} of {}", index, extent));
  }
  const View* x = std::get_if<View>(&value);
  if (x == nullptr) return counted(call, taken(Array::of(std::get<Constant>(value)), axis, indices));
  std::vector<View> parts;
  for (const auto& [first, size] : runs_of(indices)) {
    if (parts.size() == kMostParts) call.refuse("picks too many indices that are not neighbors");
    parts.push_back(sliced(call, *x, axis, first, size));
  }
  if (parts.empty()) call.refuse("picks nothing");
  return joined(call, parts, axis);
}

View zero_padded(Call& call, View x, std::vector<std::int64_t> before, std::vector<std::int64_t> after) {
  const std::vector<std::size_t> order = natural_order(call.builder(), x);
  if (order.size() == 3) {
    const std::size_t rows = order[1], columns = order[2];
    if (before[rows] + after[rows] + before[columns] + after[columns] > 0) {
      const View image = arranged(call.builder(), x, order);
      const std::size_t node =
          with_border(call, image.node, before[rows], after[rows], before[columns], after[columns]);
      std::vector<int> roles(x.rank(), View::kOne);
      roles[*x.batch_axis()] = View::kBatch;
      for (std::size_t i = 0; i < 3; ++i) roles[order[i]] = static_cast<int>(i);
      x = View::of(call.graph(), node, roles);
      before[rows] = after[rows] = before[columns] = after[columns] = 0;
    }
  }
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    if (before[axis] + after[axis] == 0) continue;
    // as rows of an image of (the axes before, this axis, the axes after)
    Along rows{.view = {}, .order = {{}, {axis}, {}}, .axis = axis, .at = 1};
    for (std::size_t other = 0; other < x.rank(); ++other) {
      if (other != axis) rows.order[other < axis ? 0 : 2].push_back(other);
    }
    const Along from = along(call.builder(), x, rows);
    const std::size_t node = with_border(call, from.view.node, before[axis], after[axis], 0, 0);
    x = from.with(node, x.dim(axis).value + before[axis] + after[axis]);
  }
  return x;
}

View joined(Call& call, const std::vector<View>& parts, std::size_t axis) {
  if (parts.size() == 1) return parts[0];
  const Along first = along(call.builder(), parts[0], axis);
  std::vector<std::size_t> nodes;
  std::int64_t extent = 0;
  for (const View& part : parts) {
    std::vector<Dim> dims = part.dims();
    if (dims.size() != first.view.rank()) call.refuse("joins values with different numbers of axes");
    extent += dims[axis].value;
    dims[axis] = first.view.dim(axis);
    if (dims != first.view.dims()) {
      call.refuse(fmt::format("joins {} and {}", to_string(parts[0].dims()), to_string(part.dims())));
    }
    const bool again = nodes.empty();  // the first one is arranged already
    nodes.push_back(again ? first.view.node : along(call.builder(), part, first).view.node);
  }
  return first.with(call.add({{"layer", "concat"}, {"axis", first.name()}}, std::move(nodes)), extent);
}

const std::initializer_list<Operator> kPartsOperators{
    Operator{"Concat", convert_concat, true},
    Operator{"Expand", convert_expand},
    Operator{"Pad", convert_pad},
    Operator{"Slice", convert_slice, true},
    Operator{"Split", convert_split, true},
    Operator{"Tile", convert_tile},
};

}  // namespace convoke::interop::onnx

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "interop/onnx/operators.hpp"

namespace convoke::interop::onnx {
namespace {

/// One axis of an interpolation.
struct ResizedAxis {
  std::int64_t in = 1, out = 1;
  double scale = 1;
};

/// How output positions are mapped to input positions, by the names of ONNX.
struct Coordinates {
  std::string transformation, nearest;
};

double ratio_of(const ResizedAxis& axis) {
  return static_cast<double>(axis.out) / static_cast<double>(axis.in);
}
bool keeps_ratio(const ResizedAxis& axis) {
  return std::abs(axis.scale - ratio_of(axis)) <= 1e-4 * ratio_of(axis);
}
bool is_first(const ResizedAxis& axis) { return axis.out == 1 || axis.out == axis.in; }

Settings layer_of(const Call& call, const Coordinates& how, bool nearest, const ResizedAxis& rows,
                  const ResizedAxis& columns) {
  Settings layer{{"layer", "resize"},
                 {"size", Value::Array{rows.out, columns.out}},
                 {"method", nearest ? "nearest" : "bilinear"}};
  // Both give the first position where several become one.
  const bool first = how.transformation == "pytorch_half_pixel" && is_first(rows) && is_first(columns);
  if (how.transformation == "align_corners" || first) {
    layer.set("centers", "align_corners");
  } else if (how.transformation == "asymmetric") {
    layer.set("centers", "asymmetric");
  } else if (how.transformation != "half_pixel" && how.transformation != "pytorch_half_pixel") {
    call.refuse(fmt::format("has the coordinates {}", how.transformation),
                "Convoke interpolates with half_pixel, align_corners and asymmetric coordinates");
  }
  for (const ResizedAxis& axis : {rows, columns}) {
    if (how.transformation == "pytorch_half_pixel" && axis.out == 1 && axis.in > 1 && !first) {
      call.refuse("makes one position of several along one axis with the coordinates pytorch_half_pixel");
    }
    if (keeps_ratio(axis)) continue;
    call.refuse(fmt::format("has a scale of {} but makes {} positions of {}", axis.scale, axis.out, axis.in),
                "resize to a given size instead of by a factor");
  }
  if (nearest) layer.set("rounding", how.nearest);  // otherwise files give one too, which has no meaning
  return layer;
}

/// `axes`: the resized axes of each entry of `scales` or `sizes`.
void resize(Call& call, const Coordinates& how, const std::string& mode, const std::vector<double>& scales,
            const std::vector<std::int64_t>& sizes, const std::vector<std::size_t>& axes) {
  const View& x = call.view(0);
  std::vector<ResizedAxis> all(x.rank());
  std::vector<std::size_t> changed;
  constexpr std::int64_t kMost = 1 << 16;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) all[axis].in = all[axis].out = x.dim(axis).value;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ResizedAxis& axis = all[axes[i]];
    if (x.has_batch(axes[i])) continue;
    if (!sizes.empty()) {
      axis.out = sizes[i];
    } else {
      const double out = std::floor(static_cast<double>(axis.in) * scales[i] + 1e-6);
      axis.out = out >= 1 && out <= static_cast<double>(kMost) ? static_cast<std::int64_t>(out) : 0;
    }
    if (axis.out < 1 || axis.out > kMost)
      call.refuse(fmt::format("makes {} positions of {}", axis.out, axis.in));
    // With aligned corners, positions follow from the numbers of pixels alone.
    const bool by_scale = sizes.empty() && how.transformation != "align_corners";
    axis.scale = by_scale ? scales[i] : ratio_of(axis);
    if (axis.out != axis.in || !keeps_ratio(axis)) changed.push_back(axes[i]);
  }
  if (changed.empty()) return call.give(x);
  if (changed.size() > 2) call.refuse("resizes more than two axes");
  // as an image of (the other axes, the first axis, the second axis)
  std::vector<std::size_t> order = natural_order(call.builder(), x);
  const bool image = order.size() == 3 && std::all_of(changed.begin(), changed.end(), [&](std::size_t axis) {
                       return axis == order[1] || axis == order[2];
                     });
  std::vector<std::size_t> others;
  if (!image) {
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
      if (std::find(changed.begin(), changed.end(), axis) == changed.end()) others.push_back(axis);
    }
  } else {
    others = {order[0]};
    changed = {order[1], order[2]};
  }
  const bool one = changed.size() == 1;  // an image of one column
  const std::vector<View::Axis> groups{atoms_of(x, others), x.axes[changed[0]],
                                       one ? View::Axis{} : x.axes[changed[1]]};
  const View from = arranged(call.builder(), x, groups);
  const ResizedAxis rows = all[changed[0]], columns = one ? ResizedAxis{} : all[changed[1]];
  const std::size_t node = call.add(layer_of(call, how, mode == "nearest", rows, columns), {from.node});
  Along first{.view = from, .order = {others, {changed[0]}, {}}, .axis = changed[0], .at = 1};
  if (one) return call.give(first.with(node, rows.out));
  first.order[2] = {changed[1]};
  Along second = first;
  second.view = first.with(node, rows.out);
  second.axis = changed[1];
  second.at = 2;
  call.give(second.with(node, columns.out));
}

std::vector<double> scales_of(const Call& call, std::size_t input) {
  const std::vector<float> values = call.constant(input, "scales").floats();
  return {values.begin(), values.end()};
}

std::string mode_of(const Call& call) {
  const std::string mode = call.text("mode", "nearest");
  if (mode == "bilinear") return "linear";
  if (mode != "nearest" && mode != "linear") {
    call.refuse(fmt::format("interpolates by \"{}\"", mode), "Convoke has \"nearest\" and \"linear\"");
  }
  return mode;
}

void convert_resize(Call& call) {
  const View& x = call.view(0);
  const std::string mode = mode_of(call);
  if (call.opset() < 11) {
    return resize(call, {"asymmetric", "floor"}, mode, scales_of(call, 1), {}, all_axes(x.rank()));
  }
  if (call.integer("antialias", 0) != 0) call.refuse("smooths (antialias = 1), which Convoke does not");
  std::vector<std::size_t> axes = all_axes(x.rank());
  if (call.has_attribute("axes")) axes = call.axes(call.integers("axes"), x.rank());
  const Coordinates how{call.text("coordinate_transformation_mode", "half_pixel"),
                        call.text("nearest_mode", "round_prefer_floor")};
  std::vector<std::int64_t> sizes;
  std::vector<double> scales;
  if (call.has(2)) scales = scales_of(call, 2);
  if (scales.empty() && call.has(3)) {
    const Constant& given = call.constant(3, "sizes");
    if (!given.is_numbers()) call.refuse("has sizes that are not whole numbers");
    for (std::size_t i = 0; i < given.numbers.size(); ++i) {
      if (given.numbers[i].batch && (i >= axes.size() || !x.has_batch(axes[i])))
        call.refuse("has a size that depends on the size of the batch");
      sizes.push_back(given.numbers[i].value);
    }
    const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch") call.refuse(fmt::format("keeps the aspect ratio ({})", policy));
  }
  if (scales.size() + sizes.size() != axes.size()) call.refuse("has not one scale or size for each axis");
  resize(call, how, mode, scales, sizes, axes);
}

void convert_upsample(Call& call) {
  const View& x = call.view(0);
  std::vector<double> scales;
  if (call.has(1)) {
    scales = scales_of(call, 1);
  } else if (const Attribute* given = find_attribute(call.node(), "scales")) {
    scales.assign(given->numbers.begin(), given->numbers.end());
  }
  if (scales.size() != x.rank()) call.refuse("has not one scale for each axis");
  resize(call, {"asymmetric", "floor"}, mode_of(call), scales, {}, all_axes(x.rank()));
}

}  // namespace

const std::initializer_list<Operator> kResizeOperators{
    Operator{"Resize", convert_resize},
    Operator{"Upsample", convert_upsample},
};

}  // namespace convoke::interop::onnx

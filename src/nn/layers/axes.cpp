#include "convoke/nn/layers/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "nn/kernels/copy_box.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/pieces.hpp"
#include "nn/plan/plan_builder.hpp"

namespace convoke::nn {
namespace {

std::vector<std::string> axes_of(std::size_t rank) {
  if (rank == 3) return {"channels", "height", "width"};
  if (rank == 2) return {"time", "features"};
  return {"features"};
}

}  // namespace

std::size_t Axis::in(const Shape& shape) const {
  const std::vector<std::string> axes = axes_of(shape.rank());
  const bool last = shape.rank() < 3 && name_ == "channels";
  const auto it = std::find(axes.begin(), axes.end(), last ? "features" : name_);
  if (it == axes.end()) {
    throw Error(fmt::format("its input {} has no axis \"{}\"", shape.with_batch(), name_),
                "its axes are " + join(axes));
  }
  return static_cast<std::size_t>(it - axes.begin());
}

std::vector<std::string> axis_names() { return {"channels", "height", "width", "time", "features"}; }

void read_value(SettingsReader& read, const KeyFacts& key, Axis& value) {
  std::string name = value.name();
  read_value(read, key, name);
  value = std::move(name);
}

Value to_value(const KeyFacts&, const Axis& value) { return value.name(); }

namespace {

/// Returns a node's value in a layout that copy_box reads and in the type stored(). A vector is (N, F), even
/// if it is a flattened image.
Tensor cuttable(PlanBuilder& plan, std::size_t node, const Node& reader, ChannelBlocks& blocks) {
  const Tensor value = plan.value_as(node, plan.stored(), reader);
  const Dims dims = dims_of(value.desc);
  const bool folded = plan.graph().node(node).shape.rank() == 1 && dims.size() == 4 && dims[2] * dims[3] > 1;
  return plan.blocked(folded ? plan.flat(value, reader) : value, reader, blocks);
}

/// Returns where position `begin` of axis `axis` (of a shape with `rank` axes) is in memory. Axes of images
/// are channels, rows, columns. Sequences (L, F) are stored as (F, 1, L): columns, channels. Vectors have
/// channels only.
CopyBox::Place place_of(const ChannelBlocks& blocks, std::size_t axis, std::size_t rank, std::int64_t begin) {
  CopyBox::Place place{.blocks = blocks};
  if (rank == 2) {
    (axis == 0 ? place.column : place.channel) = begin;
  } else {
    (axis == 0 ? place.channel : axis == 1 ? place.row : place.column) = begin;
  }
  return place;
}

/// Adds the step that copies the part `from` of the gradient dy to the gradient of `node`, at `to` in
/// `value`. The part is added to the gradient that other readers gave; the first reader sets the rest to 0.
void give_part(PlanBuilder& plan, const Node& reader, std::size_t node, const Tensor& value, const Tensor& dy,
               const CopyBox& box) {
  const Tensor given = plan.gradient(node);
  CopyBox target = box;
  const bool add = given && given.exclusive && type_of(given.desc) == type_of(dy.desc) &&
                   dims_of(given.desc) == dims_of(value.desc) && channel_blocks(given.desc, target.to.blocks);
  if (!add) target.to.blocks = box.to.blocks;
  const Tensor dx = add ? given : plan.allocate(value.desc);
  const ChannelBlocks& whole = target.to.blocks;
  const std::size_t count = elements_of(dx.desc);
  // Elements outside the box, and padding, are 0.
  const bool fill = !add && (target.channels != whole.padded_channels() || target.rows != whole.height ||
                             target.columns != whole.width);
  plan.add_typed_kernel(
      dy.desc, reader, add ? "backward, added" : "backward",
      [=]<class T>(const Frame& frame) {
        if (fill) std::fill_n(frame.at<T>(dx), count, T{});
        kernels<CopyBoxKernels<T>>().copy_box(target, frame.at<T>(dy), frame.at<T>(dx), add);
      },
      {dy.ref, dx.ref}, dx);
  if (!add) plan.add_gradient(node, dx, reader);
}

struct Part {
  std::size_t from;
  Tensor value;
  CopyBox box;  ///< copies from the input to the output
};

/// Returns the layout of the result: that of the first part that is blocked for oneDNN, or else of the first
/// part.
ChannelBlocks layout_of(const std::vector<ChannelBlocks>& parts) {
  for (const ChannelBlocks& blocks : parts) {
    if (blocks.nested) return blocks;
  }
  return parts.front();
}

}  // namespace

Shape Concat::output_shape(std::span<const ValueSpec> inputs) const {
  const std::size_t axis = options_.axis.in(inputs[0]);
  std::vector<std::int64_t> whole = inputs[0].extents();
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    bool fits = inputs[i].rank() == whole.size();
    for (std::size_t d = 0; fits && d < whole.size(); ++d) fits = d == axis || inputs[i][d] == inputs[0][d];
    if (!fits) {
      throw Error(
          fmt::format("its inputs {} and {} may differ only in their {}", inputs[0].with_batch(),
                      inputs[i].with_batch(), options_.axis.name()),
          "give both the same size, for example with padding = \"same\" or the same stride on both paths");
    }
    whole[axis] += inputs[i][axis];
  }
  return Shape(whole);
}

Concat::Keys Concat::keys() {
  static constexpr std::array kKeys{kAxis<ConcatOptions>};
  return kKeys;
}

void Concat::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t axis = options_.axis.in(node.shape), rank = node.shape.rank();
  std::vector<Tensor> values;
  std::vector<ChannelBlocks> layouts(node.inputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    values.push_back(cuttable(plan, node.inputs[i], node, layouts[i]));
  const Tensor y = plan.allocate(with_layout_of(layout_of(layouts), plan.batched(node.shape), plan.stored()));
  ChannelBlocks whole;
  channel_blocks(y.desc, whole);
  std::vector<Part> parts;
  std::vector<Ref> uses{y.ref};
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ChannelBlocks& part = layouts[i];
    parts.push_back({node.inputs[i],
                     values[i],
                     {place_of(part, axis, rank, 0), place_of(whole, axis, rank, begin), part.channels,
                      part.height, part.width}});
    begin += plan.graph().node(node.inputs[i]).shape[axis];
    uses.push_back(values[i].ref);
  }
  plan.add_typed_kernel(
      y.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        for (const Part& part : parts)
          kernels<CopyBoxKernels<T>>().copy_box(part.box, frame.at<T>(part.value), frame.at<T>(y), false);
        clear_padding(whole, frame.at<T>(y));
      },
      uses, y);
  plan.set_value(node.index, y);

  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    for (const Part& part : parts) {
      if (!plan.needs_gradient(part.from)) continue;
      CopyBox back = part.box;
      std::swap(back.from, back.to);
      give_part(plan, node, part.from, part.value, dy, back);
    }
  });
}

Shape Slice::output_shape(std::span<const ValueSpec> inputs) const {
  const std::size_t axis = options_.axis.in(inputs[0]);
  const std::int64_t extent = inputs[0][axis], begin = options_.begin;
  const std::int64_t size = options_.size == 0 ? extent - begin : options_.size;
  if (begin < 0 || size < 1 || begin + size > extent) {
    throw Error(fmt::format("cannot take {} {} from position {} of its input {}", size, options_.axis.name(),
                            begin, inputs[0].with_batch()),
                fmt::format("begin + size may be up to {}", extent));
  }
  std::vector<std::int64_t> extents = inputs[0].extents();
  extents[axis] = size;
  return Shape(extents);
}

Slice::Keys Slice::keys() {
  using O = SliceOptions;
  static constexpr std::array kKeys{
      kAxis<O>,
      key<&O::begin>({.name = "begin", .range = kNotNegative, .help = "first index along the axis"}),
      key<&O::size>(
          {.name = "size", .range = kNotNegative, .help = "number of elements; 0: all that follow"})};
  return kKeys;
}

void Slice::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  const std::size_t axis = options_.axis.in(node.shape), rank = node.shape.rank();
  ChannelBlocks whole, part;
  const Tensor x = cuttable(plan, from, node, whole);
  const Tensor y = plan.allocate(with_layout_of(whole, plan.batched(node.shape), plan.stored()));
  channel_blocks(y.desc, part);
  const CopyBox box{place_of(whole, axis, rank, options_.begin), place_of(part, axis, rank, 0), part.channels,
                    part.height, part.width};
  plan.add_typed_kernel(
      y.desc, node, "forward",
      [=]<class T>(const Frame& frame) {
        kernels<CopyBoxKernels<T>>().copy_box(box, frame.at<T>(x), frame.at<T>(y), false);
        clear_padding(part, frame.at<T>(y));
      },
      {x.ref, y.ref}, y);
  plan.set_value(node.index, y);

  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    CopyBox back = box;
    std::swap(back.from, back.to);
    give_part(plan, node, from, x, dy, back);
  });
}

std::vector<Symbol> split(Symbol x, std::int64_t parts, const Axis& axis) {
  const Shape& shape = x.graph->node(x.node).shape;
  const std::int64_t extent = shape[axis.in(shape)];
  if (parts < 1 || extent % parts != 0) {
    throw Error(fmt::format("{} {} of {} cannot be split into {} equal parts", extent, axis.name(),
                            shape.with_batch(), parts),
                "use slice for parts of different sizes");
  }
  std::vector<Symbol> slices;
  for (std::int64_t i = 0; i < parts; ++i)
    slices.push_back(slice(x, {.axis = axis, .begin = i * extent / parts, .size = extent / parts}));
  return slices;
}

Shape ChannelShuffle::output_shape(std::span<const ValueSpec> inputs) const {
  const Shape& in = inputs[0];
  const std::int64_t channels = in[in.rank() == 2 ? 1 : 0];
  if (channels % options_.groups != 0) {
    throw Error(fmt::format("{} groups do not divide the {} channels of its input {}", options_.groups,
                            channels, in.with_batch()),
                "choose groups that divide the channels");
  }
  return in;
}

ChannelShuffle::Keys ChannelShuffle::keys() {
  static constexpr std::array kKeys{
      key<&ChannelShuffleOptions::groups>({.name = "groups",
                                           .range = kAtLeastOne,
                                           .required = true,
                                           .help = "number of groups; must divide the channels"})};
  return kKeys;
}

void ChannelShuffle::compile(PlanBuilder& plan, const Node& node) const {
  const std::size_t from = node.inputs[0];
  ChannelBlocks blocks;
  const Tensor x = cuttable(plan, from, node, blocks);
  const auto add_step = [&plan, &node, blocks](const char* what, const Tensor& in, std::int64_t groups) {
    const Tensor out = plan.allocate(in.desc);
    plan.add_typed_kernel(
        in.desc, node, what,
        [=]<class T>(const Frame& frame) {
          kernels<CopyBoxKernels<T>>().channel_shuffle(blocks, groups, frame.at<T>(in), frame.at<T>(out));
        },
        {in.ref, out.ref}, out);
    return out;
  };
  plan.set_value(node.index, add_step("forward", x, options_.groups));
  const std::int64_t inverse = blocks.channels / options_.groups;
  plan.on_gradient(node, [=, &plan, &node](const Tensor& dy) {
    plan.add_gradient(from, add_step("backward", dy, inverse), node);
  });
}

}  // namespace convoke::nn

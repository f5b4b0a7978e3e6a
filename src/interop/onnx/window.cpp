#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "convoke/core/error.hpp"
#include "convoke/nn/layer_keys.hpp"
#include "convoke/nn/window.hpp"
#include "interop/onnx/operators.hpp"

// Convolutions and pooling.

namespace convoke::interop::onnx {
namespace {

/// The window of a convolution or a pooling, over images or, with `sequence`, along sequences as images of
/// one row.
struct WindowAttributes {
  bool sequence = false;
  nn::Extent kernel{1}, stride{1}, dilation{1};
  nn::Padding padding;

  /// Returns a number along sequences, [height, width] of images.
  Value value(nn::Extent extent) const {
    if (sequence) return extent.width;
    return nn::to_value(KeyFacts{}, extent);
  }
  /// Returns the settings of a layer over the window, whose size it calls `size`.
  Settings settings(std::string_view layer, std::string_view size) const {
    const Value around = sequence ? nn::write_sequence_padding(padding) : nn::to_value(KeyFacts{}, padding);
    return {
        {"layer", layer}, {std::string(size), value(kernel)}, {"stride", value(stride)}, {"padding", around}};
  }
};

/// Returns the padding of auto_pad SAME_LOWER: an odd pixel goes before the image.
nn::Padding same_lower(const WindowAttributes& window, const View& input) {
  nn::Extent before(0), after(0);
  const auto pad = [&](std::size_t axis, auto side) {
    const nn::Window upper = nn::slide(input.dim(axis).value, window.kernel.*side, window.stride.*side,
                                       window.dilation.*side, nn::Padding::Kind::kSame, 0, 0);
    before.*side = upper.after;
    after.*side = upper.before;
  };
  pad(input.rank() - 1, &nn::Extent::width);
  if (!window.sequence) pad(2, &nn::Extent::height);
  return nn::Padding::by(before, after);
}

/// Returns a pair of numbers, of which a sequence has only the second.
nn::Extent extent_of(const Call& call, const std::vector<std::int64_t>& values, bool sequence) {
  if (values.size() != (sequence ? 1 : 2)) {
    call.refuse(fmt::format("has windows with {} axes over {}", values.size(),
                            sequence ? "sequences (N, C, L)" : "images (N, C, H, W)"));
  }
  constexpr std::int64_t kMost = 1 << 24;
  for (const std::int64_t value : values) {
    if (value < 0 || value > kMost) call.refuse(fmt::format("has the number {} in its window", value));
  }
  return sequence ? nn::Extent(1, values[0]) : nn::Extent(values[0], values[1]);
}

/// Reads the attributes of a window. `kernel`: without the attribute kernel_shape; `input`: the value (N,
/// C, L) or (N, C, H, W).
WindowAttributes read_window(const Call& call, const std::vector<std::int64_t>& kernel, const View& input) {
  WindowAttributes window;
  window.sequence = input.rank() == 3;
  const std::size_t axes = window.sequence ? 1 : 2;
  const std::vector<std::int64_t> ones(axes, 1);
  window.kernel = extent_of(call, call.integers("kernel_shape", kernel), window.sequence);
  window.stride = extent_of(call, call.integers("strides", ones), window.sequence);
  window.dilation = extent_of(call, call.integers("dilations", ones), window.sequence);
  for (const nn::Extent& extent : {window.kernel, window.stride, window.dilation}) {
    if (extent.height < 1 || extent.width < 1) call.refuse("has a window, stride or dilation of 0");
  }
  const std::string automatic = call.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER") {
    window.padding = nn::Padding::same();
  } else if (automatic == "SAME_LOWER") {
    window.padding = same_lower(window, input);
  } else if (automatic != "VALID") {
    std::vector<std::int64_t> pads = call.integers("pads");
    if (pads.empty()) pads.assign(2 * axes, 0);
    if (pads.size() != 2 * axes) call.refuse(fmt::format("has {} pads", pads.size()));
    const auto half = pads.begin() + static_cast<std::ptrdiff_t>(axes);
    nn::Extent before = extent_of(call, {pads.begin(), half}, window.sequence);
    nn::Extent after = extent_of(call, {half, pads.end()}, window.sequence);
    if (window.sequence) before.height = after.height = 0;
    const nn::Extent none(0);
    if (before != none || after != none) window.padding = nn::Padding::by(before, after);
  }
  return window;
}

/// Returns the node with the value (N, C, H, W) as images (C, H, W), or (N, C, L) as sequences (L, C).
std::size_t channels_first(Call& call, const View& view) {
  if (view.rank() != 3 && view.rank() != 4) {
    call.refuse(fmt::format("its input {} is neither images (N, C, H, W) nor sequences (N, C, L)",
                            to_string(view.dims())),
                view.rank() == 5 ? "Convoke has no layers for volumes (N, C, D, H, W)" : "");
  }
  if (view.axes[0] != View::Axis{View::kBatch}) {
    call.refuse(fmt::format("its input {} does not begin with the batch alone", to_string(view.dims())));
  }
  return view.rank() == 4 ? arrange(call.builder(), view, {view.axes[1], view.axes[2], view.axes[3]})
                          : arrange(call.builder(), view, {view.axes[2], view.axes[1]});
}

/// Returns the ONNX value of such a node.
View of_channels_first(const nn::Graph& graph, std::size_t node) {
  constexpr int kBatch = View::kBatch;
  return graph.node(node).shape.rank() == 3 ? View::of(graph, node, {kBatch, 0, 1, 2})
                                            : View::of(graph, node, {kBatch, 1, 0});
}

/// Returns the extents of a kernel (M, C, ...) after the channels.
std::vector<std::int64_t> kernel_of(const Call& call, const Constant& weight, const View& input) {
  const std::vector<std::int64_t>& extents = weight.shape.extents();
  if (extents.size() != input.rank() || extents.size() < 3) {
    call.refuse(fmt::format("its weight {} does not fit its input {}", weight.shape.to_string(),
                            to_string(input.dims())));
  }
  return {extents.begin() + 2, extents.end()};
}

std::optional<Constant> bias_of(Call& call, std::int64_t filters) {
  if (call.has(2)) return call.constant(2, "bias");
  return call.following_bias(1, filters);
}

/// Returns the weight (C, M / groups, ...) of a transposed convolution as ours, (M, C / groups, kh, kw);
/// along sequences, kh is 1.
Constant transposed_weight(const Constant& weight, std::int64_t groups) {
  const std::vector<std::int64_t>& extents = weight.shape.extents();
  const Shape image{extents[0], extents[1], extents.size() == 3 ? 1 : extents[2], extents.back()};
  return weight.reshaped({groups, image[0] / groups, image[1], image[2] * image[3]})
      .transposed({0, 2, 1, 3})
      .reshaped(swapped_channels(image, groups));
}

Settings convolution(const WindowAttributes& window, std::string_view type, std::int64_t filters,
                     std::int64_t groups) {
  Settings layer = window.settings(type, "kernel");
  layer.set("filters", filters);
  layer.set("dilation", window.value(window.dilation));
  layer.set("groups", groups);
  return layer;
}

std::size_t add_convolution(Call& call, Settings layer, std::size_t from, const Constant& weight,
                            const std::optional<Constant>& bias) {
  layer.set("bias", bias.has_value());
  return call.add_weighted(layer, {from}, weight, bias);
}

/// Sets the padding of a transposed convolution that gives an output_shape or auto_pad, as onnxruntime
/// does: rows beyond the wanted ones are cut off on both sides, an odd one at the end for SAME_UPPER,
/// otherwise at the beginning. Missing rows are added to `extra` for an output_shape; auto_pad adds none.
void pad_automatically(const Call& call, const View& input, WindowAttributes& window, nn::Extent& extra) {
  const std::string automatic = call.text("auto_pad", "NOTSET");
  const bool same = automatic.starts_with("SAME_"), shaped = call.has_attribute("output_shape");
  if (!same && !shaped) return;
  nn::Extent wanted(0), before(0), after(0);
  if (shaped) {
    std::vector<std::int64_t> shape = call.integers("output_shape");
    if (shape.size() == input.rank()) shape.erase(shape.begin(), shape.begin() + 2);
    wanted = extent_of(call, shape, window.sequence);
  }
  const auto pad = [&](std::size_t axis, auto side) {
    const std::int64_t in = input.dim(axis).value, stride = window.stride.*side;
    const std::int64_t full =
        (in - 1) * stride + window.dilation.*side * (window.kernel.*side - 1) + 1 + extra.*side;
    const std::int64_t surplus = full - (shaped ? wanted.*side : in * stride);
    const std::int64_t cut = std::max<std::int64_t>(surplus, 0);
    before.*side = automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    after.*side = cut - before.*side;
    if (shaped && surplus < 0) extra.*side -= surplus;
  };
  pad(input.rank() - 1, &nn::Extent::width);
  if (!window.sequence) pad(2, &nn::Extent::height);
  window.padding = nn::Padding::by(before, after);
}

void convert_convolution(Call& call) {
  const View& input = call.view(0);
  const Constant& weight = call.constant(1, "weight");
  const WindowAttributes window = read_window(call, kernel_of(call, weight, input), input);
  const std::int64_t filters = weight.shape[0], groups = call.integer("group", 1);
  const std::optional<Constant> bias = bias_of(call, filters);
  const Settings layer = convolution(window, window.sequence ? "conv1d" : "conv2d", filters, groups);
  const std::size_t from = channels_first(call, input);
  call.give(of_channels_first(call.graph(), add_convolution(call, layer, from, weight, bias)));
}

// H' = (H - 1) stride + dilation (kernel - 1) + 1 + output_padding - before - after
void convert_transposed_convolution(Call& call) {
  const View& input = call.view(0);
  const Constant& weight = call.constant(1, "weight");
  WindowAttributes window = read_window(call, kernel_of(call, weight, input), input);
  const std::int64_t groups = call.integer("group", 1);
  if (groups < 1 || weight.shape[0] % groups != 0) call.refuse(fmt::format("has {} groups", groups));
  nn::Extent extra(0);
  if (call.has_attribute("output_padding")) {
    extra = extent_of(call, call.integers("output_padding"), window.sequence);
    if (window.sequence) extra.height = 0;
  }
  pad_automatically(call, input, window, extra);
  const std::int64_t filters = weight.shape[1] * groups;
  const std::optional<Constant> bias = bias_of(call, filters);
  const Constant kernel = transposed_weight(weight, groups);
  const bool sequence = std::exchange(window.sequence, false);  // as an image of one row
  const std::size_t from = sequence ? arrange(call.builder(), input, {input.axes[1], {}, input.axes[2]})
                                    : channels_first(call, input);
  Settings layer = convolution(window, "conv2d_transpose", filters, groups);
  layer.set("output_padding", window.value(extra));
  const std::size_t node = add_convolution(call, layer, from, kernel, bias);
  constexpr int kBatch = View::kBatch;
  call.give(sequence ? View::of(call.graph(), node, {kBatch, 0, 2}) : of_channels_first(call.graph(), node));
}

View pooled(Call& call, const View& input) {
  const bool average = call.node().op == "AveragePool";
  const std::string layer = average ? "average_pool" : "max_pool";
  const WindowAttributes window = read_window(call, {}, input);
  if (window.dilation != nn::Extent(1)) {
    call.refuse("has a dilated window", "Convoke's pooling layers have dilation 1");
  }
  if (!average && call.wants(1)) {
    call.refuse("gives the indices of its maxima, which Convoke does not compute");
  }
  Settings settings = window.settings(window.sequence ? layer + "1d" : layer, "size");
  settings.set("ceil", call.integer("ceil_mode", 0) != 0);
  if (average) settings.set("count_padding", call.integer("count_include_pad", 0) != 0);
  return of_channels_first(call.graph(), call.add(settings, {channels_first(call, input)}));
}

/// Returns the axis of volumes (N, C, D, H, W) along which alone a pooling has a window, if there is one.
std::optional<std::size_t> only_windowed(const Call& call, const View& input) {
  const std::vector<std::int64_t> kernel = call.integers("kernel_shape");
  const auto is_one = [](std::int64_t extent) { return extent == 1; };
  if (input.rank() != 5 || input.batch_axis() != 0 || std::ranges::count_if(kernel, is_one) != 2) return {};
  const auto at = static_cast<std::size_t>(std::ranges::find_if_not(kernel, is_one) - kernel.begin());
  std::vector<std::int64_t> strides = call.integers("strides", {1, 1, 1}),
                            pads = call.integers("pads", std::vector<std::int64_t>(6, 0));
  if (kernel.size() != 3 || strides.size() != 3 || pads.size() != 6) return {};
  strides[at] = 1;
  pads[at] = pads[at + 3] = 0;
  if (!std::ranges::all_of(strides, is_one) || std::ranges::any_of(pads, std::identity())) return {};
  return at + 2;
}

/// Returns the node with the attributes of windows along one of three axes.
NodeProto along_one(NodeProto node, std::size_t axis) {
  for (Attribute& list : node.attributes) {
    std::vector<std::int64_t>& values = list.integers;
    if (values.size() == 6) values = {values[axis], values[axis + 3]};
    if (values.size() == 3) values = {values[axis]};
  }
  return node;
}

// Axes without a window join the channels. PyTorch writes LocalResponseNorm as means over (N, 1, C, H, W).
void convert_pool(Call& call) {
  const View& input = call.view(0);
  const std::optional<std::size_t> windowed = only_windowed(call, input);
  if (!windowed) return call.give(pooled(call, input));
  std::vector<std::size_t> others{1, 2, 3, 4}, order{0, 1, 2, 3, 4};
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(*windowed - 1));
  View sequences = input;
  sequences.axes = {input.axes[0], atoms_of(input, others), input.axes[*windowed]};
  const NodeProto node = along_one(call.node(), *windowed - 2);
  Call one(call.import(), node);
  const View means = pooled(one, sequences);
  std::vector<Dim> dims{means.dim(0), input.dim(others[0]), input.dim(others[1]), input.dim(others[2]),
                        means.dim(2)};
  for (std::size_t& from : order) from = from == *windowed ? 4 : from > *windowed ? from - 1 : from;
  call.give(reshaped(call, means, std::move(dims)).transposed(order));
}

constexpr const char *kMean = "global_average_pool", *kMax = "global_max_pool";

void convert_global_pool(Call& call) {
  const View& x = call.view(0);
  std::vector<std::size_t> axes;
  for (std::size_t axis = 2; axis < x.rank(); ++axis) axes.push_back(axis);
  call.give(reduced(call, x, axes, call.node().op == "GlobalMaxPool" ? kMax : kMean, true));
}

void convert_reduce(Call& call) {
  const View& x = call.view(0);
  const char* layer = call.node().op == "ReduceMax" ? kMax : kMean;
  call.give(reduced(call, x, reduced_axes(call, x.rank()), layer, call.integer("keepdims", 1) != 0));
}

View summed(Call& call, const View& x) {
  return reduced_sum(call, x, reduced_axes(call, x.rank()), call.integer("keepdims", 1) != 0);
}

void convert_reduce_sum(Call& call) { call.give(summed(call, call.view(0))); }

// The square root has no gradient at 0, where that of PyTorch's norm is 0: so is that of a maximum above it.
void convert_norm(Call& call) {
  const View& x = call.view(0);
  const View squares = x.with_node(call.add({{"layer", "multiply"}}, {x.node, x.node}));
  const View sum = computed(call, "maximum", {summed(call, squares), std::numeric_limits<float>::min()});
  call.give(call.elementwise(sum, {{"layer", "elementwise"}, {"function", "sqrt"}}));
}

}  // namespace

// By a layer that reduces each channel of an image, or each feature of a sequence.
View reduced(Call& call, const View& x, const std::vector<std::size_t>& axes, const std::string& layer,
             bool keep) {
  const View::Axis gone = atoms_of(x, axes);
  View::Axis kept;
  for (int atom = 0; atom < static_cast<int>(x.atoms.size()); ++atom) {
    if (std::find(gone.begin(), gone.end(), atom) == gone.end()) kept.push_back(atom);
  }
  for (const std::size_t axis : axes) {
    if (x.has_batch(axis)) call.refuse("reduces over the samples of a batch");
  }
  View result = x;
  if (!gone.empty()) {
    const View from = with_channels(call.builder(), x, kept);
    const bool image = call.graph().node(from.node).shape.rank() == 3;
    result = call.elementwise(from, {{"layer", image ? layer : layer + "1d"}});
    const auto left = static_cast<std::ptrdiff_t>(kept.size());
    const int before = image ? 0 : static_cast<int>(gone.size());
    result.atoms = image ? std::vector<std::int64_t>(from.atoms.begin(), from.atoms.begin() + left)
                         : std::vector<std::int64_t>(from.atoms.end() - left, from.atoms.end());
    for (const std::size_t axis : axes) result.axes[axis].clear();
    for (View::Axis& axis : result.axes) {
      for (int& atom : axis) {
        if (atom != View::kBatch) atom -= before;
      }
    }
  }
  if (keep) return result;
  std::vector<View::Axis> left;
  for (std::size_t axis = 0; axis < result.rank(); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) left.push_back(result.axes[axis]);
  }
  result.axes = std::move(left);
  return result;
}

View reduced_sum(Call& call, const View& x, const std::vector<std::size_t>& axes, bool keep) {
  const auto count = static_cast<double>(x.extent(atoms_of(x, axes)));
  return rescaled(call, reduced(call, x, axes, kMean, keep), count, 0);
}

const std::initializer_list<Operator> kWindowOperators{
    Operator{"AveragePool", convert_pool},
    Operator{"Conv", convert_convolution},
    Operator{"ConvTranspose", convert_transposed_convolution},
    Operator{"GlobalAveragePool", convert_global_pool},
    Operator{"GlobalMaxPool", convert_global_pool},
    Operator{"MaxPool", convert_pool},
    Operator{"ReduceL2", convert_norm},
    Operator{"ReduceMax", convert_reduce},
    Operator{"ReduceMean", convert_reduce},
    Operator{"ReduceSum", convert_reduce_sum},
};

}  // namespace convoke::interop::onnx

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "interop/onnx/operators.hpp"

namespace convoke::interop::onnx {
namespace {

/// Returns a constant input with one number for each channel.
Constant for_channels(Call& call, std::size_t input, std::string_view what, std::int64_t channels) {
  const Constant& given = call.constant(input, what);
  if (const std::optional<float> all = given.scalar(); all && channels > 1) {
    return Constant::of_floats({channels}, std::vector<float>(static_cast<std::size_t>(channels), *all));
  }
  if (given.shape.elements() != channels) {
    call.refuse(fmt::format("its {} {} has not one number for each of {} channels", what,
                            given.shape.to_string(), channels));
  }
  return given.reshaped({channels});
}

/// Returns the number that is added to the variance. 0 becomes a number that no variance notices.
double epsilon_of(const Call& call) {
  constexpr double kLeast = 1e-30;
  const double epsilon = call.number("epsilon", 1e-5);
  if (!std::isfinite(epsilon) || epsilon < 0) call.refuse(fmt::format("has the epsilon {}", epsilon));
  return std::max(epsilon, kLeast);
}

/// Adds a layer that normalizes and has a scale and a bias, or not.
View normalized(Call& call, const View& from, Settings layer, const std::optional<Constant>& gamma,
                const std::optional<Constant>& beta) {
  layer.set("epsilon", epsilon_of(call));
  layer.set("scale", gamma.has_value());
  layer.set("center", beta.has_value());
  const std::size_t node = call.add(layer, {from.node}, gamma ? &*gamma : nullptr);
  if (gamma) call.import().give(node, "gamma", *gamma);
  if (beta) call.import().give(node, "beta", *beta);
  return from.with_node(node);
}

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias over these atoms
View normalized_over(Call& call, const View& x, const View::Axis& atoms, const std::optional<Constant>& gamma,
                     const std::optional<Constant>& beta) {
  const View from = with_channels(call.builder(), x, atoms);
  const bool image = call.graph().node(from.node).shape.rank() == 3;
  return normalized(call, from, {{"layer", "layer_norm"}, {"axis", image ? "channels" : "features"}}, gamma,
                    beta);
}

std::vector<std::size_t> normalized_axes(const Call& call, const View& x, std::vector<std::size_t> axes) {
  for (const std::size_t axis : axes) {
    if (x.has_batch(axis)) call.refuse("normalizes over the samples of a batch");
  }
  return axes;
}

void convert_batch_norm(Call& call) {
  const View& x = call.view(0);
  if (call.integer("spatial", 1) == 0) call.refuse("normalizes each pixel separately (spatial = 0)");
  if (x.rank() < 2 || x.has_batch(1)) {
    call.refuse(fmt::format("its input {} has no axis of channels", to_string(x.dims())));
  }
  const std::int64_t channels = x.dim(1).value;
  const Constant gamma = for_channels(call, 1, "scale", channels);
  const Constant beta = for_channels(call, 2, "bias", channels);
  const Constant mean = for_channels(call, 3, "mean", channels);
  const Constant variance = for_channels(call, 4, "variance", channels);
  // Before opset 14, further outputs say so.
  if (call.integer("training_mode", 0) != 0 || call.node().outputs.size() > 1) {
    call.builder().note(
        "Batch normalization was exported in training mode. Prediction uses the running mean and variance of "
        "the file, not those of a batch, as after model.eval().");
  }
  const View from = with_channels(call.builder(), x, x.axes[1]);
  const std::size_t node = call.add(
      {{"layer", "batch_norm"}, {"momentum", call.number("momentum", 0.9)}, {"epsilon", epsilon_of(call)}},
      {from.node}, gamma.name.empty() || module_of(gamma.name).empty() ? &mean : &gamma);
  call.import().give(node, "gamma", gamma);
  call.import().give(node, "beta", beta);
  call.import().give(node, "running_mean", mean);
  call.import().give(node, "running_variance", variance);
  call.give(from.with_node(node));
}

// Over the last axes, from `axis` on.
void convert_layer_norm(Call& call) {
  const View& x = call.view(0);
  if (call.wants(1) || call.wants(2)) call.refuse("gives mean and deviation, which Convoke does not");
  std::vector<std::size_t> axes;
  for (std::size_t axis = call.axis(call.integer("axis", -1), x.rank()); axis < x.rank(); ++axis)
    axes.push_back(axis);
  const View::Axis atoms = atoms_of(x, normalized_axes(call, x, axes));
  const std::int64_t channels = x.extent(atoms);
  std::optional<Constant> gamma, beta;
  if (call.has(1)) gamma = for_channels(call, 1, "scale", channels);
  if (call.has(2)) beta = for_channels(call, 2, "bias", channels);
  call.give(normalized_over(call, x, atoms, gamma, beta));
}

void normalize_groups(Call& call, const View& x, std::int64_t groups, const Constant& gamma,
                      const Constant& beta) {
  const auto unless = [](const Constant& constant, float trivial) {
    const bool left_out = constant.name.empty() && constant.uniform() == trivial;
    return left_out ? std::nullopt : std::optional(constant);
  };
  const View from = with_channels(call.builder(), x, x.axes[1]);
  call.give(normalized(call, from, {{"layer", "group_norm"}, {"groups", groups}}, unless(gamma, 1),
                       unless(beta, 0)));
}

/// Repeats each number, so that a constant of each group becomes one of each channel.
Constant of_each_channel(const Constant& constant, std::int64_t channels) {
  const std::int64_t groups = constant.shape.elements();
  if (groups == channels || groups < 1) return constant;
  const std::vector<float> values = constant.floats();
  std::vector<float> repeated;
  for (const float value : values) {
    repeated.insert(repeated.end(), static_cast<std::size_t>(channels / groups), value);
  }
  return Constant::of_floats({channels}, std::move(repeated));
}

/// Returns the constant by which a formula multiplies, or which it adds: (C, 1, 1) for images.
Constant broadcast_to_channels(Call& call, std::size_t input, std::string_view what) {
  const View& x = call.view(0);
  const Shape& shape = call.constant(input, what).shape;
  const std::size_t after = x.rank() - 2;  // axes
  if (shape.elements() != 1 &&
      (shape.rank() <= after || shape[shape.rank() - 1 - after] != shape.elements())) {
    call.refuse(fmt::format("its {} {} differs between pixels", what, shape.to_string()));
  }
  return for_channels(call, input, what, x.dim(1).value);
}

void convert_instance_norm(Call& call) {
  const View& x = call.view(0);
  if (x.rank() < 3 || x.has_batch(1)) call.refuse("needs channels and axes over which it normalizes");
  const std::int64_t channels = x.dim(1).value;
  normalize_groups(call, x, channels, for_channels(call, 1, "scale", channels),
                   for_channels(call, 2, "bias", channels));
}

void convert_group_norm(Call& call) {
  const View& x = call.view(0);
  if (x.rank() < 2 || x.has_batch(1)) call.refuse("needs channels in the second axis");
  const std::int64_t channels = x.dim(1).value, groups = call.integer("num_groups", 1);
  if (groups < 1 || channels % groups != 0) {
    call.refuse(fmt::format("has {} groups of {} channels", groups, channels));
  }
  std::vector<Dim> divided{x.dim(0), {groups}};
  for (std::size_t axis = 2; axis < x.rank(); ++axis) divided.push_back({-1});
  if (call.has(3)) {
    const std::size_t rank = call.constant(3, "shape").numbers.size();
    if (rank < 3) call.refuse("joins groups with pixels");
    divided.resize(rank, Dim{-1});
  }
  call.expect_shape(3, divided);
  call.expect_shape(4, x.dims());
  const auto parameter = [&](std::size_t input, std::string_view what) {
    const Constant& given = call.constant(input, what);
    if (call.is_recognized()) return broadcast_to_channels(call, input, what);
    const bool by_group = given.shape.elements() == groups && groups != channels;
    return by_group ? of_each_channel(given, channels) : for_channels(call, input, what, channels);
  };
  normalize_groups(call, x, groups, parameter(1, "scale"), parameter(2, "bias"));
}

void convert_local_response_norm(Call& call) {
  const View& x = call.view(0);
  if (x.rank() != 4 || x.has_batch(1)) call.refuse("normalizes only images (N, C, H, W)");
  call.expect_shape(1, {x.dim(0), {1}, x.dim(1), x.dim(2), x.dim(3)});
  const std::int64_t size = call.integer("size", 5);
  if (!call.is_recognized() && size % 2 == 0) {
    call.refuse(
        "has a window of an even size, whose extra channel lies behind the center",
        "Convoke's local_response_norm has it in front, as PyTorch's: train the model with an odd size");
  }
  const View from = arranged(call.builder(), x, std::vector<std::size_t>{1, 2, 3});
  call.give(call.elementwise(from, {{"layer", "local_response_norm"},
                                    {"size", size},
                                    {"alpha", call.number("alpha", 1e-4)},
                                    {"beta", call.number("beta", 0.75)},
                                    {"k", call.number("bias", 1)}}));
}

}  // namespace

// The same over any axes, which a pattern gives.
void convert_normalize(Call& call) {
  const View& x = call.view(0);
  std::vector<std::size_t> axes = normalized_axes(call, x, call.axes(call.integers("axes"), x.rank()));
  std::sort(axes.begin(), axes.end());
  std::vector<Dim> means = x.dims();
  for (const std::size_t axis : axes) means[axis] = Dim{1};
  call.expect_shape(3, means);
  const View::Axis atoms = atoms_of(x, axes);
  const std::int64_t channels = x.extent(atoms);
  if (std::abs(call.number("share", 1.0 / static_cast<double>(channels)) * static_cast<double>(channels) -
               1) > 1e-3) {
    call.refuse("divides a sum by another number than that of its elements");
  }
  // Scale and bias belong to the layer if they have one number for each normalized element.
  const auto belongs = [&](std::size_t input) {
    if (!call.has(input)) return true;
    const Shape& shape = call.constant(input, "scale").shape;
    const bool last = axes.back() + 1 == x.rank() && shape.elements() == channels &&
                      shape.rank() <= axes.size() + (x.rank() - axes.front() - axes.size());
    const bool only = axes.size() == 1 && shape.rank() + axes[0] >= x.rank() &&
                      shape[shape.rank() + axes[0] - x.rank()] == channels && shape.elements() == channels;
    return last || only;
  };
  const bool own = belongs(1) && belongs(2);
  std::optional<Constant> gamma, beta;
  if (own && call.has(1)) gamma = call.constant(1, "scale");
  if (own && call.has(2)) beta = call.constant(2, "bias");
  View result = normalized_over(call, x, atoms, gamma, beta);
  if (!own && call.has(1)) result = scaled_by(call, result, call.constant(1, "scale"));
  if (!own && call.has(2)) result = shifted_by(call, result, call.constant(2, "bias"));
  call.give(result);
}

const std::initializer_list<Operator> kNormalizationOperators{
    Operator{"BatchNormalization", convert_batch_norm},
    Operator{"GroupNormalization", convert_group_norm},
    Operator{"InstanceNormalization", convert_instance_norm},
    Operator{"LRN", convert_local_response_norm},
    Operator{"LayerNormalization", convert_layer_norm},
};

}  // namespace convoke::interop::onnx

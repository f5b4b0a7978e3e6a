#include "interop/layer_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/nn/losses/outputs.hpp"

namespace convoke::interop {
namespace {

WindowAxis axis_of(const nn::Window& window, std::int64_t input, std::int64_t kernel, std::int64_t stride,
                   std::int64_t dilation, std::int64_t asked_after, bool ceil) {
  return {.input = input,
          .output = window.output,
          .kernel = kernel,
          .stride = stride,
          .dilation = dilation,
          .before = window.before,
          .after = window.after,
          .beyond = ceil ? window.after - asked_after : 0};
}

}  // namespace

WindowAxes windows_of(const LayerSettings& layer, const Shape& input) {
  const std::string_view key = layer.has("kernel") ? "kernel" : "size";
  const bool ceil = layer.flag("ceil");
  const nn::Rounding rounding = ceil ? nn::Rounding::kCeil : nn::Rounding::kFloor;
  if (input.rank() == 2) {
    const std::int64_t kernel = layer.integer(key), stride = layer.integer("stride");
    const std::int64_t dilation = layer.has("dilation") ? layer.integer("dilation") : 1;
    const nn::Padding padding = layer.padding1d("padding");
    const nn::Window window = nn::slide_sequence(input, kernel, stride, dilation, padding, rounding);
    const bool beyond = ceil && padding.kind != nn::Padding::Kind::kSame;
    return {axis_of(window, input[0], kernel, stride, dilation, padding.after.width, beyond)};
  }
  const nn::Extent kernel = layer.extent(key), stride = layer.extent("stride");
  const nn::Extent dilation = layer.has("dilation") ? layer.extent("dilation") : nn::Extent(1);
  const nn::Padding padding = layer.padding("padding");
  const nn::Window2d window = nn::slide(input, kernel, stride, dilation, padding, rounding);
  const bool beyond = ceil && padding.kind != nn::Padding::Kind::kSame;
  return {axis_of(window.height, input[1], kernel.height, stride.height, dilation.height,
                  padding.after.height, beyond),
          axis_of(window.width, input[2], kernel.width, stride.width, dilation.width, padding.after.width,
                  beyond)};
}

// output = (input - 1) stride + span - before - after + output_padding
WindowAxes transposed_windows_of(const LayerSettings& layer, const Shape& input, const Shape& output) {
  const nn::Extent kernel = layer.extent("kernel"), stride = layer.extent("stride");
  const nn::Extent dilation = layer.extent("dilation");
  const nn::Padding padding = layer.padding("padding");
  WindowAxes axes;
  for (const auto side : {&nn::Extent::height, &nn::Extent::width}) {
    WindowAxis& axis = axes.emplace_back(WindowAxis{.input = input[axes.size() + 1],
                                                    .output = output[axes.size() + 1],
                                                    .kernel = kernel.*side,
                                                    .stride = stride.*side,
                                                    .dilation = dilation.*side,
                                                    .before = padding.before.*side});
    const std::int64_t surplus = (axis.input - 1) * axis.stride + axis.span() - axis.output;
    if (padding.kind == nn::Padding::Kind::kSame) axis.before = std::max<std::int64_t>(0, surplus) / 2;
    axis.after = std::max<std::int64_t>(0, surplus - axis.before);
    axis.beyond = std::max<std::int64_t>(0, axis.before - surplus);
  }
  return axes;
}

std::vector<PoolWindow> adaptive_windows(std::int64_t inputs, std::int64_t outputs) {
  std::vector<PoolWindow> windows;
  for (std::int64_t o = 0; o < outputs; ++o) {
    const std::int64_t begin = o * inputs / outputs, end = ((o + 1) * inputs + outputs - 1) / outputs;
    windows.push_back({begin, end, end - begin});
  }
  return windows;
}

std::vector<float> mean_matrix(std::int64_t inputs, std::span<const PoolWindow> windows) {
  std::vector<float> matrix(static_cast<std::size_t>(inputs) * windows.size());
  for (std::size_t o = 0; o < windows.size(); ++o) {
    for (std::int64_t i = windows[o].begin; i < windows[o].end; ++i) {
      matrix[static_cast<std::size_t>(i) * windows.size() + o] =
          1.0F / static_cast<float>(windows[o].divisor);
    }
  }
  return matrix;
}

ModelWeights::ModelWeights(const nn::Graph& graph, std::span<const float> values) : graph_(graph) {
  const std::vector<engine::CanonicalParameter> parameters = engine::canonical_parameters(graph);
  if (values.size() != engine::canonical_values(parameters)) {
    throw Error(fmt::format("a model has {} parameters, but {} values are given for them",
                            engine::canonical_values(parameters), values.size()));
  }
  for (const engine::CanonicalParameter& parameter : parameters) {
    by_name_.emplace(parameter.name, values.subspan(parameter.offset, parameter.size()));
  }
}

std::span<const float> ModelWeights::of(const nn::Node& node, std::string_view parameter) const {
  const auto found = by_name_.find(fmt::format("{}.{}", graph_.owner(node).name, parameter));
  if (found == by_name_.end()) throw Error(fmt::format("{}: has no parameter {}", node.name, parameter));
  return found->second;
}

std::string_view missing_activation(const run::ModelDescription& model) {
  const bool activated = nn::outputs_are_activated(model.graph, *model.loss);
  return activated ? std::string_view() : model.loss->activation();
}

}  // namespace convoke::interop

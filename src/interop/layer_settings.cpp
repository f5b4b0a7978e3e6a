#include "interop/layer_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/nn/losses/outputs.hpp"

namespace convoke::interop {

WindowAxes windows_of(const LayerSettings& layer, const Shape& input) {
  const bool sequence = input.rank() == 2, ceil = layer.flag("ceil");
  const auto extent = [&](std::string_view key) {
    return sequence ? nn::Extent(layer.integer(key)) : layer.extent(key);
  };
  const nn::Extent kernel = extent(layer.has("kernel") ? "kernel" : "size"), stride = extent("stride");
  const nn::Extent dilation = layer.has("dilation") ? extent("dilation") : nn::Extent(1);
  const nn::Padding padding = sequence ? layer.padding1d("padding") : layer.padding("padding");
  const nn::Rounding rounding = ceil ? nn::Rounding::kCeil : nn::Rounding::kFloor;
  const bool beyond = ceil && padding.kind != nn::Padding::Kind::kSame;
  const auto axis = [&](const nn::Window& window, std::int64_t positions, auto side) {
    return WindowAxis{.input = positions,
                      .output = window.output,
                      .kernel = kernel.*side,
                      .stride = stride.*side,
                      .dilation = dilation.*side,
                      .before = window.before,
                      .after = window.after,
                      .beyond = beyond ? window.after - padding.after.*side : 0};
  };
  if (sequence) {
    const nn::Window window =
        nn::slide_sequence(input, kernel.width, stride.width, dilation.width, padding, rounding);
    return {axis(window, input[0], &nn::Extent::width)};
  }
  const nn::Window2d window = nn::slide(input, kernel, stride, dilation, padding, rounding);
  return {axis(window.height, input[1], &nn::Extent::height),
          axis(window.width, input[2], &nn::Extent::width)};
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
    const nn::AdaptiveWindow window(o, inputs, outputs);
    windows.push_back({window.begin, window.end, window.end - window.begin});
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

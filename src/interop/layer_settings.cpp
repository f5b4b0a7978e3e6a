#include "interop/layer_settings.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/nn/layer_reader.hpp"
#include "convoke/nn/losses/outputs.hpp"

namespace convoke::interop {
namespace {

// The help texts of keys are of no use here.
constexpr std::string_view kNoHelp;

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

std::int64_t LayerSettings::integer(std::string_view key) const {
  return nn::LayerReader(settings_, type_).require_int(key);
}
double LayerSettings::number(std::string_view key) const {
  return nn::LayerReader(settings_, type_).require_number(key, kNoHelp);
}
bool LayerSettings::flag(std::string_view key) const {
  return nn::LayerReader(settings_, type_).get(key, false, kNoHelp);
}
std::string LayerSettings::text(std::string_view key) const {
  const Value* value = settings_.find(key);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->data());
  return text == nullptr ? std::string() : *text;
}
std::vector<std::int64_t> LayerSettings::integers(std::string_view key) const {
  return nn::LayerReader(settings_, type_).require_integers(key, "list", kNoHelp);
}
std::vector<double> LayerSettings::numbers(std::string_view key) const {
  return nn::LayerReader(settings_, type_).require_numbers(key, "list", kNoHelp);
}
std::vector<std::string> LayerSettings::texts(std::string_view key) const {
  return nn::LayerReader(settings_, type_).texts(key, kNoHelp);
}
nn::Extent LayerSettings::extent(std::string_view key) const {
  return nn::LayerReader(settings_, type_).require_extent(key, kNoHelp);
}
nn::Padding LayerSettings::padding(std::string_view key) const {
  return nn::LayerReader(settings_, type_).padding(key, {}, kNoHelp);
}
nn::Padding LayerSettings::padding1d(std::string_view key) const {
  return nn::LayerReader(settings_, type_).padding1d(key, {}, true, kNoHelp);
}
nn::Border LayerSettings::border(std::string_view key) const {
  return nn::LayerReader(settings_, type_).border(key, 0, kNoHelp);
}

std::vector<WindowAxis> windows_of(const LayerSettings& layer, const Shape& input) {
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

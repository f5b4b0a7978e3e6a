#include "interop/keras/composition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "interop/keras/weights.hpp"
#include "interop/layer_tables.hpp"
#include "interop/tensor.hpp"

namespace convoke::interop::keras_export {
namespace {

// Layers behind which the tokens' mask still is. Others end it.
constexpr std::array<std::string_view, 6> kKeepsMask{"Dropout", "SpatialDropout1D",   "Activation",
                                                     "ReLU",    "BatchNormalization", "LayerNormalization"};

bool keeps_mask(std::string_view class_name) {
  return std::find(kKeepsMask.begin(), kKeepsMask.end(), class_name) != kKeepsMask.end() ||
         find_named(plain_layers(), class_name, &PlainLayer::keras) != nullptr;
}

}  // namespace

Shape keras_shape(const Shape& shape) {
  return shape.rank() == 3 ? Shape{shape[1], shape[2], shape[0]} : shape;
}

Json extents_of(const WindowAxes& axes, std::int64_t WindowAxis::*each) {
  Json list = Json::array();
  for (const WindowAxis& axis : axes) list.push_back(axis.*each);
  return list;
}

bool any_above(const WindowAxes& axes, std::int64_t WindowAxis::*each, std::int64_t most) {
  return std::ranges::any_of(axes, [&](const WindowAxis& axis) { return axis.*each > most; });
}

nn::Border border_of(const WindowAxes& axes) {
  const WindowAxis& rows = axes.front();
  const WindowAxis columns = axes.size() > 1 ? axes[1] : WindowAxis{};
  return {{rows.before, columns.before}, {rows.after, columns.after}};
}

std::vector<const nn::Node*> readers_of(const nn::Graph& graph, std::size_t index) {
  std::vector<const nn::Node*> readers;
  for (const nn::Node& node : graph.nodes()) {
    const auto uses = std::count(node.inputs.begin(), node.inputs.end(), index);
    readers.insert(readers.end(), static_cast<std::size_t>(uses), &node);
  }
  return readers;
}

Json normalization_config(const Statistics& statistics) {
  return {{"axis", Json::array({-1})},
          {"invert", false},
          {"mean", statistics.mean},
          {"variance", statistics.variance}};
}

Shape Composition::output() const { return keras_shape(node.shape); }

std::string Composition::name(const nn::Node& of, std::string_view part) const {
  return part.empty() ? model_.prefix + of.name : fmt::format("{}{}_{}", model_.prefix, of.name, part);
}

KerasTensor Composition::layer(std::string_view part, std::string_view class_name, Json config,
                               std::vector<KerasTensor> inputs, Shape output) {
  const bool masked = inputs.size() == 1 && inputs[0].masked && keeps_mask(class_name);
  KerasTensor value = model_.out.add(class_name, name(node, part), std::move(config), {}, std::move(inputs),
                                     std::move(output));
  value.masked = masked;
  return value;
}

KerasTensor Composition::function(std::string_view part, KerasFunction function,
                                  std::vector<KerasTensor> inputs, Shape output) {
  return model_.out.add_function(std::move(function), name(node, part), std::move(inputs), std::move(output));
}

// The weights "kernel", "recurrent_kernel" and "embeddings" have the settings "kernel_regularizer",
// "recurrent_regularizer" and "embeddings_regularizer".
void add_regularizers(const std::vector<KerasWeight>& weights, const nn::ParameterOptions& options,
                      Json& config) {
  if (options.l1 == 0 && options.l2 == 0) return;
  Json& own = config.contains("layer") ? config["layer"]["config"] : config;  // of a Bidirectional
  for (const KerasWeight& weight : weights) {
    const bool kernel = weight.name.ends_with("kernel");
    if (!kernel && weight.name != "embeddings") continue;
    const std::string name =
        kernel && weight.name != "kernel" ? weight.name.substr(0, weight.name.find('_')) : weight.name;
    own[name + "_regularizer"] =
        keras3_object("keras.regularizers", "L1L2", {{"l1", options.l1}, {"l2", options.l2}});
  }
}

KerasTensor Composition::weighted(std::string_view part, std::string_view class_name, Json config,
                                  std::vector<KerasWeight> weights, const KerasTensor& input, Shape output) {
  const nn::Node& owner = model_.graph.owner(node);
  const std::string own = name(owner, part);
  KerasTensor value;
  if (const auto known = model_.weighted.find(own); known != model_.weighted.end()) {
    value = model_.out.call(known->second, {input}, std::move(output));
  } else {
    add_regularizers(weights, owner.options, config);
    value = model_.out.add(class_name, own, std::move(config), std::move(weights), {input}, std::move(output),
                           owner.options.trainable);
    model_.weighted.emplace(own, value.layer);
  }
  value.masked = input.masked && keeps_mask(class_name);
  return value;
}

KerasTensor Composition::constant_dense(std::string_view part, const KerasTensor& input, const Shape& shape,
                                        std::function<std::vector<float>()> make, Shape output) {
  const Json config{{"units", shape[1]}, {"activation", "linear"}, {"use_bias", false}};
  return model_.out.add("Dense", name(node, part), config, {{"", "kernel", shape, std::move(make)}}, {input},
                        std::move(output), false);
}

KerasWeight weight_of(std::span<const float> values, std::string name, const Shape& shape,
                      std::vector<std::size_t> axes, std::string path) {
  std::vector<std::int64_t> extents;
  for (const std::size_t axis : axes) extents.push_back(shape[axis]);
  return {std::move(path), std::move(name), Shape(extents), [=] {
            std::vector<float> reordered(values.size());
            interop::permute(values, shape, axes, reordered);
            return reordered;
          }};
}

std::vector<KerasWeight> Composition::weights(std::string_view type) const {
  const bool gru = settings.type() == "gru", recurrent = gru || settings.type() == "lstm";
  std::vector<KerasWeight> weights;
  for (const nn::ParameterSpec& parameter : model_.graph.owner(node).parameters) {
    const auto* layout = keras::find_layout(type.empty() ? settings.type() : type, parameter.name);
    if (layout == nullptr) continue;
    const auto values = values_of(parameter.name);
    std::string path;
    if (recurrent) path = parameter.name.starts_with("backward_") ? "backward_layer/cell" : "cell";
    if (path == "cell" && settings.flag("bidirectional")) path = "forward_layer/cell";
    if (gru && layout->parameter == "bias") {
      const std::string prefix = parameter.name.substr(0, parameter.name.size() - layout->parameter.size());
      weights.push_back(
          {path, "bias", {2, parameter.shape[0]}, [=, state = values_of(prefix + "recurrent_bias")] {
             std::vector<float> both(values.begin(), values.end());
             both.insert(both.end(), state.begin(), state.end());
             return both;
           }});
      continue;
    }
    std::vector<std::int64_t> shape = parameter.shape.extents();
    if (layout->depthwise) shape = {channels(), shape[0] / channels(), shape[2], shape[3]};
    std::vector<std::size_t> axes(layout->rank);
    for (std::size_t i = 0; i < axes.size(); ++i) axes[layout->axes.at(i)] = i;
    weights.push_back(weight_of(values, std::string(layout->name), Shape(shape), std::move(axes), path));
  }
  return weights;
}

KerasTensor Composition::reshape(std::string_view part, const KerasTensor& x, const Shape& shape) {
  return layer(part, "Reshape", {{"target_shape", shape.extents()}}, x, shape);
}

KerasTensor Composition::permute(std::string_view part, const KerasTensor& x,
                                 const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> extents;
  for (const std::int64_t dim : dims) extents.push_back(x.shape[static_cast<std::size_t>(dim - 1)]);
  return layer(part, "Permute", {{"dims", dims}}, x, Shape(extents));
}

KerasTensor Composition::bordered(std::string_view part, std::string_view class_name, const char* key,
                                  const KerasTensor& image, const nn::Border& border, std::int64_t sign) {
  const auto& [before, after] = border;
  if (before == nn::Extent(0) && after == nn::Extent(0)) return image;
  const Json sides =
      Json::array({Json::array({before.height, after.height}), Json::array({before.width, after.width})});
  return layer(part, class_name, {{key, sides}, {"data_format", "channels_last"}}, image,
               {image.shape[0] + sign * (before.height + after.height),
                image.shape[1] + sign * (before.width + after.width), image.shape[2]});
}

KerasTensor Composition::zero_pad(const KerasTensor& image, const nn::Border& border) {
  return bordered("pad", "ZeroPadding2D", "padding", image, border, 1);
}

KerasTensor Composition::crop(std::string_view part, const KerasTensor& image, const nn::Border& border) {
  return bordered(part, "Cropping2D", "cropping", image, border, -1);
}

KerasTensor Composition::unmasked(const KerasTensor& x) {
  return x.masked ? reshape("unmasked", x, x.shape) : x;
}

std::vector<KerasTensor> Composition::unmasked_inputs() {
  std::vector<KerasTensor> all;
  for (std::size_t i = 0; i < input_count(); ++i) all.push_back(unmasked(input(i)));
  return all;
}

void Composition::refuse(const std::string& why) const {
  throw Error(fmt::format("{}: Keras has no layer for \"{}\"{}{}", node.name, settings.type(),
                          why.empty() ? "" : " ", why),
              "export the model with --format onnx");
}

KerasTensor compose_model(FunctionalModel& out, const nn::Graph& graph, const ModelWeights& weights,
                          const std::string& prefix, const KerasTensor& input) {
  ComposedModel model{{graph, weights, prefix, {input}}, out};
  for (const nn::Node& node : graph.nodes()) {
    if (node.layer == nullptr) continue;
    Composition composition(model, node);
    model.values.push_back(written_layer(node).compose(composition));
  }
  return model.values.back();
}

namespace {

// A frozen Dense layer multiplies the last axis. `dims` moves the axis there, and is its own inverse.
KerasTensor mix_along(Composition& c, const std::string& part, const KerasTensor& x, const AxisMatrix& matrix,
                      const std::vector<std::int64_t>& dims) {
  const KerasTensor last = c.permute(part + "_last", x, dims);
  std::vector<std::int64_t> extents = last.shape.extents();
  extents.back() = matrix.outputs;
  const KerasTensor mixed =
      c.constant_dense(part, last, {matrix.inputs, matrix.outputs}, matrix.make, Shape(extents));
  return c.permute(part + "_back", mixed, dims);
}

}  // namespace

KerasTensor mix(Composition& c, const KerasTensor& image, const AxisMatrix& rows, const AxisMatrix& columns) {
  const KerasTensor narrow = mix_along(c, "columns", image, columns, {1, 3, 2});
  return mix_along(c, "rows", narrow, rows, {3, 2, 1});
}

KerasTensor compose_plain(Composition& c) {
  const PlainLayer& layer = *find_named(plain_layers(), c.settings.type());
  const std::string other(c.keras2() ? layer.keras2 : "");
  if (layer.keras.empty()) {
    const Json config{{"activation", other.empty() ? std::string(layer.function) : other}};
    return c.layer("", "Activation", config, c.input(), c.output());
  }
  Json config = Json::object();
  if (const PlainLayer::Number& number = layer.number; !number.name.empty())
    config[other.empty() ? std::string(number.keras) : other] = c.settings.number(number.name);
  if (c.input_count() == 1) return c.layer("", layer.keras, std::move(config), c.input(), c.output());
  return c.layer("", layer.keras, std::move(config), c.unmasked_inputs(), c.output());
}

KerasTensor refuse_layer(Composition& c) { c.refuse(""); }

}  // namespace convoke::interop::keras_export

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "interop/keras/call.hpp"
#include "interop/layer_tables.hpp"

// Activations, as layers and as names in other layers' settings.

namespace convoke::interop::keras {
namespace {

// The last node of an activation. It has the layer's name if the layer is nothing but the activation.
Value last_node(const Call& call, const Settings& layer, const std::vector<Value>& inputs,
                std::string_view suffix) {
  const bool whole = call.options().is_operation || call.options().class_name == "Activation";
  return call.add(layer, inputs, whole ? std::string_view() : suffix);
}

Value last_rescaled(const Call& call, const Value& x, double scale, double offset, std::string_view suffix) {
  return last_node(call, {{"layer", "rescale"}, {"scale", scale}, {"offset", offset}}, {x}, suffix);
}

// relu6(3 x + 3) / 3 - 1 = min(max(x, -1), 1)
Value hard_tanh(const Call& call, const Value& x) {
  const Value y = call.add({{"layer", "relu6"}}, rescaled(call, x, 3, 3, "before"), "relu6");
  return last_rescaled(call, y, 1.0 / 3, -1, "hard_tanh");
}

// Keras 2: min(max(0.2 x + 0.5, 0), 1) = relu6(1.2 x + 3) / 6. Keras 3, as we: relu6(x + 3) / 6.
Value hard_sigmoid(const Call& call, const Value& x) {
  const Value slow = call.context().keras_version >= 3 ? x : rescaled(call, x, 1.2, 0, "slope");
  return last_node(call, {{"layer", "hard_sigmoid"}}, {slow}, "hard_sigmoid");
}

// log(1 / (1 + e^-x)) = -softplus(-x)
Value log_sigmoid(const Call& call, const Value& x) {
  const Value y = call.add({{"layer", "softplus"}}, rescaled(call, x, -1, 0, "negative"), "softplus");
  return last_rescaled(call, y, -1, 0, "log_sigmoid");
}

// x tanh(softplus(x)); D. Misra, "Mish", BMVC 2020
Value mish(const Call& call, const Value& x) {
  const Value y = call.add({{"layer", "tanh"}}, call.add({{"layer", "softplus"}}, x, "softplus"), "tanh");
  return last_node(call, {{"layer", "multiply"}}, {x, y}, "mish");
}

Value tanh_shrink(const Call& call, const Value& x) {
  const Value y = call.add({{"layer", "tanh"}}, x, "tanh");
  return last_node(call, {{"layer", "subtract"}}, {x, y}, "tanh_shrink");
}

// Over the last axis of Keras, which is ours of channels or features.
Value softmax(const Call& call, const Value& x) {
  if (call.shape(x).rank() == 3 && call.context().channels_first) {
    throw Error("takes the softmax over the columns of an image", "use channels_last, or flatten it");
  }
  return last_node(call, {{"layer", "softmax"}}, {x}, "softmax");
}

Value leaky_relu_function(const Call& call, const Value& x) {  // the function's slope, not the layer's
  return last_node(call, {{"layer", "leaky_relu"}, {"negative_slope", 0.2}}, {x}, "leaky_relu");
}
Value linear(const Call&, const Value& x) { return x; }

/// A function by its name; null if it is a plain layer.
using Function = Named<Value (*)(const Call& call, const Value& x)>;
constexpr std::array kFunctions{
    Function{"hard_sigmoid", hard_sigmoid},
    Function{"hard_tanh", hard_tanh},
    Function{"leaky_relu", leaky_relu_function},
    Function{"linear", linear},
    Function{"log_sigmoid", log_sigmoid},
    Function{"mish", mish},
    Function{"softmax", softmax},
    Function{"tanh_shrink", tanh_shrink},
};

/// Returns these and the activations that are plain layers.
const std::vector<Function>& functions() {
  static const std::vector<Function> all = [] {
    std::vector<Function> list(kFunctions.begin(), kFunctions.end());
    for (const PlainLayer& layer : plain_layers()) {
      if (!layer.function.empty()) list.push_back({layer.function, nullptr});
    }
    std::ranges::sort(list, {}, &Function::name);
    return list;
  }();
  return all;
}

Value convert_activation(const Call& call) {
  return activate(call, call.input(), call.config().at("activation"));
}

// max(x, 0) below a bound, with a slope below 0: f(x) = min(x, max) for x >= 0, slope x otherwise
Value convert_relu(const Call& call) {
  const Value x = call.input();
  call.config().require_neutral("threshold", 0.0);
  const double slope = call.config().number("negative_slope", 0);
  if (!call.config().has("max_value")) {
    return slope == 0 ? call.add({{"layer", "relu"}}, x)
                      : call.add({{"layer", "leaky_relu"}, {"negative_slope", slope}}, x);
  }
  const double most = call.config().number("max_value");
  if (slope != 0 || most <= 0)
    call.config().refuse("max_value", "supported is a bound above 0, without slope");
  if (most == 6) return call.add({{"layer", "relu6"}}, x);
  const Value y = call.add({{"layer", "relu6"}}, rescaled(call, x, 6 / most, 0, "before"), "relu6");
  return rescaled(call, y, most / 6, 0, "");
}

// Ours has one slope for each channel.
Value convert_prelu(const Call& call) {
  const Value x = call.input();
  std::vector<std::int64_t> shared = call.config().wholes("shared_axes");
  std::sort(shared.begin(), shared.end());
  std::vector<std::int64_t> places;
  for (std::size_t i = 1; i <= call.shape(x).rank(); ++i) {
    const std::string axis = call.axis(x, static_cast<std::int64_t>(i));
    if (axis != "channels" && axis != "features") places.push_back(static_cast<std::int64_t>(i));
  }
  const Shape shape = call.keras_shape(x);
  const std::int64_t channels = nn::channels_of(call.shape(x));
  const bool one_place = shape.elements() == channels;
  const bool shares_channels = channels > 1 && !std::ranges::includes(places, shared);
  if (shares_channels || (shared != places && !one_place)) {
    call.config().refuse("shared_axes", "one slope for each channel is supported: shared_axes=[1, 2]");
  }
  std::vector<Tensor> tensors = call.tensors();
  // (1, 1, C), or channels first (C, 1, 1)
  if (tensors.size() == 1 && tensors[0].shape.elements() == channels) {
    tensors[0].shape = {tensors[0].shape.elements()};
  }
  return call.add_weighted({{"layer", "prelu"}}, {x}, {}, std::move(tensors));
}

}  // namespace

Value rescaled(const Call& call, const Value& x, double scale, double offset, std::string_view suffix) {
  return call.add({{"layer", "rescale"}, {"scale", scale}, {"offset", offset}}, x, suffix);
}

Value activate(const Call& call, const Value& value, const Json& activation) {
  if (activation.is_null()) return value;
  // An object is a layer, {"class_name": "LeakyReLU", "config": {...}}, or a function of the user: Keras' own
  // are names.
  if (activation.is_object()) {
    const Config object(activation);
    const bool lambda = !object.has("class_name") || object.at("class_name") == Json("__lambda__");
    if (lambda || object.at("config").is_string()) {
      throw Error(lambda ? "its activation is a lambda, Python code that is never run"
                         : fmt::format("its activation is a function of your own, {}",
                                       shortened(one_line(object.at("config").dump()), 80)),
                  fmt::format("use one of Keras' activations: {}", join(names_in(functions()))));
    }
    const std::string kind = builtin_class(activation);
    Call::Options options = call.options();
    options.class_name = kind;
    options.path.push_back({.name = "activation", .key = "activation"});
    static const Json none = Json::object();
    const Json& config = object.at("config").is_object() ? object.at("config") : none;
    return find_layer(kind)(Call(call.context(), config, std::move(options), {value}, {}));
  }
  if (!activation.is_string()) throw Error("its activation is neither a name nor an object");
  const Function& function = find_in(functions(), activation.get<std::string>(), "activation");
  if (function.value != nullptr) return function.value(call, value);
  const std::string_view layer = find_named(plain_layers(), function.name, &PlainLayer::function)->name;
  return last_node(call, {{"layer", layer}}, {value}, layer);
}

// A function of keras.ops has the name of the layer: Elu, LeakyRelu.
Value convert_plain(const Call& call) {
  const std::string& name = call.options().class_name;
  const PlainLayer* by_class = find_named(plain_layers(), name, &PlainLayer::keras);
  const PlainLayer& layer = by_class != nullptr ? *by_class : *find_named(plain_layers(), snake_case(name));
  if (layer.training && call.options().inference) return call.input();
  Settings settings{{"layer", layer.name}};
  if (const PlainLayer::Number& number = layer.number; !number.name.empty()) {
    const bool other = !layer.keras2.empty() && call.config().has(layer.keras2);
    settings.set(number.name,
                 call.config().number(other ? layer.keras2 : number.keras, number.keras_default));
  }
  return call.add(settings, call.input());
}

Value convert_softmax(const Call& call) {
  const Value x = call.input();
  require_channel_axis(call, x);
  return call.add({{"layer", "softmax"}}, x);
}

const std::initializer_list<LayerClass> kActivationClasses{
    LayerClass{"Activation", convert_activation},
    LayerClass{"PReLU", convert_prelu, "prelu"},
    LayerClass{"ReLU", convert_relu},
    LayerClass{"Softmax", convert_softmax},
};

}  // namespace convoke::interop::keras

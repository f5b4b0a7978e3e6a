#include "interop/keras/functional_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace convoke::interop::keras_export {

Json batch_shape(const Shape& sample) {
  Json shape = Json::array({nullptr});
  for (const std::int64_t extent : sample.extents()) shape.push_back(extent);
  return shape;
}

Json keras3_object(std::string_view module, std::string_view class_name, Json config) {
  return {{"module", module},
          {"class_name", class_name},
          {"config", std::move(config)},
          {"registered_name", nullptr}};
}

KerasTensor FunctionalModel::add_input(const Shape& shape, bool tokens) {
  const bool keras3 = dialect_ == KerasDialect::kKeras3;
  Json config{{keras3 ? "batch_shape" : "batch_input_shape", batch_shape(shape)},
              {"dtype", tokens ? "int32" : "float32"},
              {"sparse", false},
              {"name", "input"}};
  names_["input"] = 1;
  layers_.push_back({"InputLayer", "input", std::move(config), {}, {{}}});
  return {.layer = layers_.size() - 1, .call = 0, .shape = shape};
}

KerasTensor FunctionalModel::add(std::string_view class_name, const std::string& name, Json config,
                                 std::vector<KerasWeight> weights, std::vector<KerasTensor> inputs,
                                 Shape output, bool trainable) {
  const std::string own = unique(name);
  Json all{{"name", own}, {"dtype", "float32"}};
  if (!weights.empty()) all["trainable"] = trainable;
  all.update(config);
  layers_.push_back({std::string(class_name), own, std::move(all), std::move(weights), {}});
  return call(layers_.size() - 1, std::move(inputs), std::move(output));
}

std::string FunctionalModel::unique(const std::string& name) {
  std::string own = name;
  for (int i = 1; !names_.emplace(own, 1).second; ++i) own = fmt::format("{}_{}", name, i);
  return own;
}

KerasTensor FunctionalModel::add_function(KerasFunction function, const std::string& name,
                                          std::vector<KerasTensor> inputs, Shape output) {
  const std::string own = unique(name);
  Json config{{"name", own}};
  const bool keras3 = dialect_ == KerasDialect::kKeras3;
  if (keras3) config.update(function.config);
  if (!keras3)
    config.update(Json{{"trainable", true}, {"dtype", "float32"}, {"function", function.tensorflow}});
  const std::string class_name = keras3 ? function.class_name : "TFOpLambda";
  layers_.push_back({class_name, own, std::move(config), {}, {}, std::move(function)});
  return call(layers_.size() - 1, std::move(inputs), std::move(output));
}

KerasTensor FunctionalModel::call(std::size_t layer, std::vector<KerasTensor> inputs, Shape output) {
  KerasLayer& called = layers_[layer];
  called.calls.push_back(std::move(inputs));
  return {.layer = layer, .call = called.calls.size() - 1, .shape = std::move(output)};
}

// keras/src/ops/function.py, map_graph: a depth-first walk from the output gives the order in which calls are
// finished and layers are first seen; then depths go from the output to the input.
std::vector<std::size_t> FunctionalModel::order(const KerasTensor& output) const {
  using Call = std::pair<std::size_t, std::size_t>;  // layer, call
  struct Visit {
    Call call;
    std::size_t next_input = 0;
  };
  std::vector<Call> finished;
  std::vector<std::size_t> first_seen(layers_.size(), layers_.size());
  std::map<Call, bool> seen;
  std::size_t count = 0;
  std::vector<Visit> stack;
  const auto enter = [&](std::size_t layer, std::size_t call) {
    if (!seen.emplace(Call{layer, call}, true).second) return;
    if (first_seen[layer] == layers_.size()) first_seen[layer] = count++;
    stack.push_back({{layer, call}});
  };
  enter(output.layer, output.call);
  while (!stack.empty()) {
    Visit& visit = stack.back();
    const auto& inputs = layers_[visit.call.first].calls[visit.call.second];
    if (visit.next_input < inputs.size()) {
      const KerasTensor& input = inputs[visit.next_input++];
      enter(input.layer, input.call);
    } else {
      finished.push_back(visit.call);
      stack.pop_back();
    }
  }
  std::map<Call, std::size_t> call_depth;
  std::vector<std::size_t> depth(layers_.size(), 0), ordered;
  for (auto call = finished.rbegin(); call != finished.rend(); ++call) {
    const std::size_t own = depth[call->first] = std::max(call_depth[*call], depth[call->first]);
    for (const KerasTensor& input : layers_[call->first].calls[call->second]) {
      std::size_t& before = call_depth[{input.layer, input.call}];
      before = std::max(before, own + 1);
    }
  }
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (first_seen[i] < layers_.size()) ordered.push_back(i);
  std::sort(ordered.begin(), ordered.end(), [&](std::size_t a, std::size_t b) {
    return depth[a] != depth[b] ? depth[a] > depth[b] : first_seen[a] < first_seen[b];
  });
  return ordered;
}

Json FunctionalModel::describe_tensor(const KerasTensor& tensor) const {
  const std::string& name = layers_[tensor.layer].name;
  if (dialect_ == KerasDialect::kKeras2) return Json::array({name, tensor.call, 0});
  const Json config{{"shape", batch_shape(tensor.shape)},
                    {"dtype", "float32"},
                    {"keras_history", Json::array({name, tensor.call, 0})}};
  return {{"class_name", "__keras_tensor__"}, {"config", config}};
}

// Attention takes query, value and key as arguments; other layers take one list of tensors.
Json FunctionalModel::describe_call(const KerasLayer& layer, const std::vector<KerasTensor>& inputs) const {
  if (layer.function) return describe_call(*layer.function, inputs);
  const bool separate = layer.class_name == "MultiHeadAttention";
  Json tensors = Json::array();
  for (const KerasTensor& input : inputs) tensors.push_back(describe_tensor(input));
  if (dialect_ == KerasDialect::kKeras2) {
    Json keywords = Json::object();
    if (separate) keywords = Json{{"value", tensors[1]}, {"key", tensors[2]}};
    if (separate) tensors = Json::array({tensors[0]});
    for (Json& tensor : tensors) tensor.push_back(Json::object());
    if (separate) tensors[0][3] = keywords;
    return tensors;
  }
  const Json args = inputs.size() == 1 || separate ? tensors : Json::array({tensors});
  return {{"args", args}, {"kwargs", Json::object()}};
}

// Keras 2 has the first operand in the list, and the others by their names.
Json FunctionalModel::describe_call(const KerasFunction& function,
                                    const std::vector<KerasTensor>& inputs) const {
  Json operands = Json::array();
  std::size_t next = 0;
  for (const Json& operand : function.operands) {
    operands.push_back(operand.is_null() ? describe_tensor(inputs[next++]) : operand);
  }
  if (dialect_ == KerasDialect::kKeras3) return {{"args", operands}, {"kwargs", Json::object()}};
  Json first = operands[0].is_array() ? operands[0] : Json::array({"_CONSTANT_VALUE", -1, operands[0]});
  Json keywords = function.config;
  for (std::size_t i = 1; i < operands.size(); ++i) keywords[function.names.at(i - 1)] = operands[i];
  first.push_back(keywords);
  return first;
}

Json FunctionalModel::describe(const KerasLayer& layer) const {
  Json json;
  const bool keras3 = dialect_ == KerasDialect::kKeras3;
  if (keras3) json["module"] = layer.function ? layer.function->module : "keras.layers";
  json["class_name"] = layer.class_name;
  json["config"] = layer.config;
  if (keras3) json["registered_name"] = layer.function ? Json(layer.class_name) : Json(nullptr);
  json["name"] = layer.name;
  Json calls = Json::array();
  for (const auto& inputs : layer.calls)
    if (!inputs.empty()) calls.push_back(describe_call(layer, inputs));
  json["inbound_nodes"] = std::move(calls);
  return json;
}

Json FunctionalModel::config(const KerasTensor& output) const {
  Json layers = Json::array();
  for (const std::size_t i : order(output)) layers.push_back(describe(layers_[i]));
  return {{"name", "convoke"},
          {"trainable", true},
          {"layers", std::move(layers)},
          {"input_layers", Json::array({Json::array({"input", 0, 0})})},
          {"output_layers", Json::array({Json::array({layers_[output.layer].name, output.call, 0})})}};
}

}  // namespace convoke::interop::keras_export

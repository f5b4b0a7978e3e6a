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

KerasTensor FunctionalModel::add_input(const Shape& shape, bool tokens) {
  const bool keras3 = dialect_ == KerasDialect::kKeras3;
  Json config{{keras3 ? "batch_shape" : "batch_input_shape", batch_shape(shape)},
              {"dtype", tokens ? "int32" : "float32"},
              {"sparse", false},
              {"name", "input"}};
  names_["input"] = 1;
  layers_.push_back({"InputLayer", "input", std::move(config), {}, {{}}, {shape}});
  return {.layer = layers_.size() - 1, .call = 0, .shape = shape};
}

KerasTensor FunctionalModel::add(std::string_view class_name, const std::string& name, Json config,
                                 std::vector<KerasWeight> weights, std::vector<KerasTensor> inputs,
                                 Shape output, bool trainable) {
  std::string own = name;
  for (int i = 1; !names_.emplace(own, 1).second; ++i) own = fmt::format("{}_{}", name, i);
  Json all{{"name", own}, {"dtype", "float32"}};
  if (!weights.empty()) all["trainable"] = trainable;
  all.update(config);
  layers_.push_back({std::string(class_name), own, std::move(all), std::move(weights), {}, {}});
  return call(layers_.size() - 1, std::move(inputs), std::move(output));
}

KerasTensor FunctionalModel::call(std::size_t layer, std::vector<KerasTensor> inputs, Shape output) {
  KerasLayer& called = layers_[layer];
  called.calls.push_back(std::move(inputs));
  called.outputs.push_back(output);
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

// Attention takes query, value and key as arguments; other layers take one list of tensors.
Json FunctionalModel::describe_call(const KerasLayer& layer, const std::vector<KerasTensor>& inputs) const {
  const bool separate = layer.class_name == "MultiHeadAttention";
  Json tensors = Json::array();
  for (const KerasTensor& input : inputs) {
    const std::string& name = layers_[input.layer].name;
    if (dialect_ == KerasDialect::kKeras2) {
      tensors.push_back(Json::array({name, input.call, 0, Json::object()}));
      continue;
    }
    const Json config{{"shape", batch_shape(input.shape)},
                      {"dtype", "float32"},
                      {"keras_history", Json::array({name, input.call, 0})}};
    tensors.push_back(Json{{"class_name", "__keras_tensor__"}, {"config", config}});
  }
  if (dialect_ == KerasDialect::kKeras2) {
    if (!separate) return tensors;
    const auto named = [&](std::size_t i) { return Json::array({tensors[i][0], tensors[i][1], 0}); };
    tensors[0][3] = Json{{"value", named(1)}, {"key", named(2)}};
    return Json::array({tensors[0]});
  }
  const Json args = inputs.size() == 1 || separate ? tensors : Json::array({tensors});
  return {{"args", args}, {"kwargs", Json::object()}};
}

Json FunctionalModel::describe(const KerasLayer& layer) const {
  Json json;
  if (dialect_ == KerasDialect::kKeras3) json["module"] = "keras.layers";
  json["class_name"] = layer.class_name;
  json["config"] = layer.config;
  if (dialect_ == KerasDialect::kKeras3) json["registered_name"] = nullptr;
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

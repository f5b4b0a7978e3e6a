#include "interop/keras/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::interop::keras {
namespace {

constexpr std::size_t kMostCalls = 20'000;

/// A tensor as Keras names it: the output of a layer's call.
struct TensorName {
  std::string layer;
  std::int64_t call = 0;
};

[[noreturn]] void damaged(const std::string& what) {
  throw Error(what, "the file is damaged, or of an unknown version: save the model again");
}

// [name, call, output], the output being 0, with anything behind.
std::optional<TensorName> tensor_name(const Json& json) {
  if (!json.is_array() || json.size() < 3 || !json[0].is_string() || !json[1].is_number_integer() ||
      !json[2].is_number_integer()) {
    return std::nullopt;
  }
  TensorName tensor{json[0].get<std::string>(), json[1].get<std::int64_t>()};
  if (tensor.layer == "_CONSTANT_VALUE") return std::nullopt;
  if (json[2].get<std::int64_t>() != 0) {
    throw Error(fmt::format("reads output {} of layer \"{}\"; layers with several outputs are not supported",
                            json[2].get<std::int64_t>(), one_line(tensor.layer)));
  }
  return tensor;
}

/// A call whose arguments are still names.
struct NamedCall {
  std::size_t layer = 0;
  std::vector<std::pair<std::optional<TensorName>, Argument>> arguments = {};
};

// Keras 3: {"args": [...], "kwargs": {...}}, in which tensors are objects, also within lists.
void read_argument3(const Json& json, const std::string& keyword, NamedCall& call) {
  if (text_of(member(json, "class_name")) == "__keras_tensor__") {
    const std::optional<TensorName> tensor = tensor_name(member(member(json, "config"), "keras_history"));
    if (!tensor) damaged("a tensor has no \"keras_history\"");
    call.arguments.emplace_back(tensor, Argument{.keyword = keyword});
  } else if (json.is_array() && std::any_of(json.begin(), json.end(), [](const Json& part) {
               return part.is_object() && part.contains("class_name");
             })) {
    for (const Json& part : json) read_argument3(part, keyword, call);
  } else {
    call.arguments.emplace_back(std::nullopt, Argument{.constant = json, .keyword = keyword});
  }
}

// Keras 2: [["name", 0, 0, {keyword: value, ...}], ...], where a value may be ["name", 0, 0].
void read_argument2(const Json& json, NamedCall& call) {
  const std::optional<TensorName> tensor = tensor_name(json);
  if (tensor) {
    call.arguments.emplace_back(tensor, Argument{});
  } else if (json.is_array() && json.size() >= 3 && json[0] == "_CONSTANT_VALUE") {
    call.arguments.emplace_back(std::nullopt, Argument{.constant = json[2]});
  } else {
    damaged("\"inbound_nodes\" holds something that is no tensor");
  }
  if (json.size() < 4 || !json[3].is_object()) return;
  for (const auto& [keyword, value] : json[3].items()) {
    call.arguments.emplace_back(tensor_name(value), Argument{.constant = value, .keyword = keyword});
  }
}

void read_calls(const Json& layer, std::size_t index, std::vector<NamedCall>& calls) {
  for (const Json& node : member(layer, "inbound_nodes")) {
    NamedCall call{.layer = index};
    if (node.is_object()) {
      for (const Json& argument : member(node, "args")) read_argument3(argument, "", call);
      if (member(node, "kwargs").is_object()) {
        for (const auto& [keyword, value] : member(node, "kwargs").items())
          read_argument3(value, keyword, call);
      }
    } else if (node.is_array() && !node.empty() && node[0].is_string()) {
      read_argument2(node, call);
    } else if (node.is_array()) {
      for (const Json& tensor : node) read_argument2(tensor, call);
    } else {
      damaged("\"inbound_nodes\" is no list of calls");
    }
    if (calls.size() == kMostCalls) throw Error(fmt::format("has more than {} calls", kMostCalls));
    calls.push_back(std::move(call));
  }
}

// In .h5 files of Keras 3 an operator has no module either. It reads its operands one by one, a layer a list.
bool reads_operands(const Json& json) {
  static constexpr std::array<std::string_view, 5> kOperators{"Add", "Maximum", "Minimum", "Multiply",
                                                              "Subtract"};
  const Json& calls = member(json, "inbound_nodes");
  return !json.contains("module") && calls.is_array() && !calls.empty() &&
         std::ranges::find(kOperators, text_of(member(json, "class_name"))) != kOperators.end() &&
         member(calls[0], "args").size() > 1;
}

LayerEntry read_entry(const Json& json, std::map<std::string, int>& used) {
  LayerEntry entry{.class_name = text_of(member(json, "class_name")),
                   .name = text_of(member(json, "name")),
                   .key = {},
                   .whole = &json,
                   .config = &member(json, "config")};
  if (entry.name.empty()) entry.name = text_of(member(*entry.config, "name"));
  if (entry.class_name.empty() || entry.config->is_null()) damaged("holds a layer without class or settings");
  if (entry.name.empty()) entry.name = snake_case(entry.class_name);
  const std::string module = text_of(member(json, "module"));
  entry.is_operation =
      module.starts_with("keras.src.ops.") || module.starts_with("keras.ops") || reads_operands(json);
  if (!entry.is_operation) {
    const std::string key = snake_case(entry.class_name);
    const int number = used[key]++;
    entry.key = number == 0 ? key : fmt::format("{}_{}", key, number);
  }
  return entry;
}

// The output called `wanted`: that of this layer, or of this key of a dictionary.
TensorName output_called(const Json& list, const std::string& wanted) {
  std::vector<std::string> names;
  const auto see = [&](const std::string& key, const Json& json) -> std::optional<TensorName> {
    const std::optional<TensorName> tensor = tensor_name(json);
    if (!tensor) return {};
    names.push_back(one_line(key.empty() ? tensor->layer : key));
    return key == wanted || tensor->layer == wanted ? tensor : std::nullopt;
  };
  if (list.is_object()) {
    for (const auto& [key, json] : list.items()) {
      if (const auto found = see(key, json)) return *found;
    }
  }
  if (const auto found = see("", list)) return *found;  // ["name", 0, 0]
  if (list.is_array()) {
    for (const Json& json : list) {
      if (const auto found = see("", json)) return *found;
    }
  }
  throw Error(fmt::format("has no output \"{}\"", one_line(wanted)), "its outputs are " + join(names));
}

// The single tensor of ["name", 0, 0], [["name", 0, 0]] or {"key": ["name", 0, 0]}.
TensorName single(const Json& list, const char* what) {
  std::optional<TensorName> tensor = tensor_name(list);
  if (!tensor && list.is_structured() && list.size() == 1) tensor = tensor_name(*list.begin());
  if (tensor) return *tensor;
  if (!list.is_array() && !list.is_object()) damaged(fmt::format("has no {}", what));
  std::vector<std::string> names;
  for (const Json& one : list)
    names.push_back(one_line(one.is_array() && !one.empty() ? text_of(one[0]) : ""));
  throw Error(fmt::format("has {} {}: {}", names.size(), what, join(names)),
              std::string_view(what) == "outputs"
                  ? "choose one with --output-node, or make a model with one: keras.Model(inputs, output)"
                  : "make a model with one input and one output: keras.Model(inputs, outputs)");
}

/// Orders the calls of a Functional model so that each is behind those that it reads.
class Sorter {
 public:
  Sorter(Network& network, std::vector<NamedCall> calls) : network_(network), calls_(std::move(calls)) {
    for (std::size_t i = 0; i < network_.layers.size(); ++i) {
      if (!index_.emplace(network_.layers[i].name, i).second) {
        damaged(fmt::format("has two layers \"{}\"", one_line(network_.layers[i].name)));
      }
    }
    of_layer_.resize(network_.layers.size());
    for (std::size_t i = 0; i < calls_.size(); ++i) of_layer_[calls_[i].layer].push_back(i);
  }

  std::size_t layer(const std::string& name) const {
    const auto found = index_.find(name);
    if (found == index_.end())
      damaged(fmt::format("reads a layer \"{}\" that does not exist", one_line(name)));
    return found->second;
  }

  void sort(const TensorName& input, const TensorName& output) {
    note_first_calls(output);
    const std::size_t nowhere = calls_.size();
    std::vector<std::size_t> missing(calls_.size(), 0), place(calls_.size(), nowhere);
    std::vector<std::vector<std::size_t>> readers(calls_.size());
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      for (const auto& [tensor, argument] : calls_[i].arguments) {
        if (!tensor) continue;
        readers[call(*tensor)].push_back(i);
        ++missing[i];
      }
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    const std::size_t first = call(input);
    ready.push(first);  // other calls without inputs are never reached
    while (!ready.empty()) {
      const std::size_t next = ready.top();
      ready.pop();
      place[next] = network_.calls.size();
      LayerCall sorted{.layer = calls_[next].layer};
      for (const auto& [tensor, argument] : calls_[next].arguments) {
        sorted.arguments.push_back(argument);
        if (tensor) sorted.arguments.back().call = place[call(*tensor)];
      }
      network_.calls.push_back(std::move(sorted));
      for (const std::size_t reader : readers[next]) {
        if (--missing[reader] == 0) ready.push(reader);
      }
    }
    const std::size_t last = call_of_output(output);
    if (place[last] == nowhere) {
      throw Error(fmt::format("its output \"{}\" does not follow from its input \"{}\"",
                              one_line(output.layer), one_line(input.layer)),
                  "the layers form a cycle, or read another input");
    }
    network_.output = place[last];
  }

 private:
  // Keras 2 counts the calls of a nested model from 1, because the first one made the model. Keras 3 does so
  // for the output of the network alone, if the nested model is Functional.
  void note_first_calls(const TensorName& output) {
    first_.assign(network_.layers.size(), 1);
    const auto see = [&](const TensorName& tensor) {
      first_[layer(tensor.layer)] &= tensor.call == 0 ? 0 : 1;
    };
    see(output);
    for (const NamedCall& call : calls_) {
      for (const auto& [tensor, argument] : call.arguments) {
        if (tensor) see(*tensor);
      }
    }
    for (std::size_t i = 0; i < first_.size(); ++i) {
      if (!is_model(*network_.layers[i].whole)) first_[i] = 0;
    }
  }

  std::size_t call(const TensorName& tensor) const { return call(tensor, first_[layer(tensor.layer)]); }

  std::size_t call_of_output(const TensorName& tensor) const {
    const LayerEntry& entry = network_.layers[layer(tensor.layer)];
    const bool functional = is_model(*entry.whole) && entry.class_name != "Sequential";
    return functional && tensor.call > 0 ? call(tensor, 1) : call(tensor);
  }

  std::size_t call(const TensorName& tensor, std::int64_t first) const {
    const std::size_t of = layer(tensor.layer);
    const std::int64_t number = tensor.call - first;
    if (number < 0 || number >= static_cast<std::int64_t>(of_layer_[of].size())) {
      damaged(fmt::format("reads call {} of layer \"{}\", which has {}", tensor.call, one_line(tensor.layer),
                          of_layer_[of].size()));
    }
    return of_layer_[of][static_cast<std::size_t>(number)];
  }

  Network& network_;
  std::vector<NamedCall> calls_;
  std::map<std::string, std::size_t> index_;
  std::vector<std::vector<std::size_t>> of_layer_;
  std::vector<std::int64_t> first_;  ///< number of each layer's first call
};

Network read_functional(const Json& config, const std::string& wanted) {
  Network network;
  std::vector<NamedCall> calls;
  std::map<std::string, int> used;
  for (const Json& json : member(config, "layers")) {
    network.layers.push_back(read_entry(json, used));
    const std::size_t index = network.layers.size() - 1;
    if (network.layers.back().class_name == "InputLayer") {
      calls.push_back({.layer = index});
    } else {
      read_calls(json, index, calls);
    }
  }
  const TensorName input = single(member(config, "input_layers"), "inputs");
  const Json& outputs = member(config, "output_layers");
  const TensorName output = wanted.empty() ? single(outputs, "outputs") : output_called(outputs, wanted);
  Sorter sorter(network, std::move(calls));
  if (network.layers[sorter.layer(input.layer)].class_name != "InputLayer") {
    damaged(fmt::format("its input \"{}\" is no InputLayer", one_line(input.layer)));
  }
  sorter.sort(input, output);
  return network;
}

Network read_sequential(const Json& config) {
  static const Json input{{"class_name", "InputLayer"}, {"name", "input"}, {"config", Json::object()}};
  Network network;
  std::map<std::string, int> used;
  for (const Json& json : config.is_array() ? config : member(config, "layers")) {
    LayerEntry entry = read_entry(json, used);
    if (network.layers.empty() && entry.class_name != "InputLayer") {
      network.layers.push_back({.class_name = "InputLayer",
                                .name = "input",
                                .key = {},
                                .whole = &input,
                                .config = &input["config"]});
    }
    if (network.layers.size() == kMostCalls) throw Error(fmt::format("has more than {} layers", kMostCalls));
    network.layers.push_back(std::move(entry));
  }
  if (network.layers.empty()) throw Error("has no layers");
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    LayerCall call{.layer = i};
    if (i > 0) call.arguments.push_back({.call = i - 1});
    network.calls.push_back(std::move(call));
  }
  network.output = network.calls.size() - 1;
  return network;
}

}  // namespace

bool is_model(const Json& layer) {
  const std::string kind = text_of(member(layer, "class_name"));
  const Json& config = member(layer, "config");
  return kind == "Sequential" || kind == "Functional" ||
         (kind == "Model" && member(config, "layers").is_array());
}

Network read_network(const Json& model, const std::string& output) {
  const Json& config = member(model, "config");
  return text_of(member(model, "class_name")) == "Sequential" ? read_sequential(config)
                                                              : read_functional(config, output);
}

}  // namespace convoke::interop::keras

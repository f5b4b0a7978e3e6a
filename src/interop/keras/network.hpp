#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "interop/keras/config.hpp"

namespace convoke::interop::keras {

/// An argument of a call: the output of an earlier call, or a constant.
struct Argument {
  std::optional<std::size_t> call = {};  ///< index into Network::calls
  Json constant = nullptr;
  std::string keyword = {};  ///< empty: by position
};

/// One layer of a model.
struct LayerEntry {
  std::string class_name;
  std::string name;
  std::string key;            ///< its group in Keras 3's weights: "conv2d_1", its class with a number
  const Json* whole = {};     ///< the JSON of the layer with its class, config, ...
  const Json* config = {};    ///< its settings; of a nested model, its layers
  bool is_operation = false;  ///< a function of keras.ops that was called on tensors, no layer
};

/// One use of a layer. A shared layer has several.
struct LayerCall {
  std::size_t layer = 0;  ///< index into Network::layers
  std::vector<Argument> arguments = {};
};

/// The layers of a Sequential or Functional model and their calls, each after the calls that it reads. The
/// first call is the input. It refers to the JSON that it was read from.
struct Network {
  std::vector<LayerEntry> layers;
  std::vector<LayerCall> calls;
  std::size_t output = 0;  ///< index into `calls`
};

/// True if this is the JSON of a model: {"class_name": "Functional", "config": {...}}.
bool is_model(const Json& layer);

/// Reads the dialects of Keras 1 to 3. `output`: the output to take of several; empty: the only one. Throws
/// Error, with neither file nor layer, for a model with several inputs or outputs, a reference to a layer
/// that does not exist, or a cycle.
Network read_network(const Json& model, const std::string& output = {});

}  // namespace convoke::interop::keras

#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/shape.hpp"

// A Functional model of Keras that is written: layers and their calls, weights, and the two forms of its
// configuration.

namespace convoke::interop::keras_export {

/// Keys stay in the order in which they are set, so that equal models give equal text.
using Json = nlohmann::ordered_json;

/// How a configuration is spelled: as Keras 3 does in .keras files, or as Keras 2 does in .h5 files, which
/// both versions read.
enum class KerasDialect { kKeras2, kKeras3 };

/// The output of one call of a layer; axes in Keras' order, without the batch: (H, W, C), (L, F) or (F).
struct KerasTensor {
  std::size_t layer = 0, call = 0;
  Shape shape;
  bool masked = false;  ///< Keras' mask of the tokens comes with it
};

struct KerasWeight {
  std::string path;  ///< of the object that holds it, within the layer: "", "cell", "forward_layer/cell"
  std::string name;  ///< "kernel"
  Shape shape;
  std::function<std::vector<float>()> make;  ///< called when the file is written
};

/// A function that is called on tensors without a layer: keras.ops.power, or tf.math.pow in Keras 2.
struct KerasFunction {
  std::string module, class_name;   ///< in Keras 3
  std::string tensorflow;           ///< in Keras 2: "math.pow"
  std::vector<std::string> names;   ///< there, of the operands after the first
  std::vector<Json> operands = {};  ///< numbers; null: the next tensor
  Json config = Json::object();     ///< further arguments
};

struct KerasLayer {
  std::string class_name, name;
  Json config;
  std::vector<KerasWeight> weights;             ///< in the order of Keras' layer
  std::vector<std::vector<KerasTensor>> calls;  ///< the inputs of each
  std::optional<KerasFunction> function = {};   ///< it is no layer
};

class FunctionalModel {
 public:
  explicit FunctionalModel(KerasDialect dialect) : dialect_(dialect) {}

  KerasDialect dialect() const { return dialect_; }
  const std::vector<KerasLayer>& layers() const { return layers_; }

  /// Adds the input, a batch of `shape`.
  KerasTensor add_input(const Shape& shape, bool tokens);
  /// Adds a layer and calls it. `name` is made unique; its name and type are added to `config`, and
  /// `trainable` if it has weights.
  KerasTensor add(std::string_view class_name, const std::string& name, Json config,
                  std::vector<KerasWeight> weights, std::vector<KerasTensor> inputs, Shape output,
                  bool trainable = true);
  /// Calls a function.
  KerasTensor add_function(KerasFunction function, const std::string& name, std::vector<KerasTensor> inputs,
                           Shape output);
  /// Calls a layer again.
  KerasTensor call(std::size_t layer, std::vector<KerasTensor> inputs, Shape output);

  /// Returns the layers on which `output` depends, in the order in which Keras lists and numbers them: by
  /// depth, the longest way to the output, and then by a walk from the output.
  std::vector<std::size_t> order(const KerasTensor& output) const;
  /// Returns the model's configuration, with the layers in that order.
  Json config(const KerasTensor& output) const;

 private:
  Json describe(const KerasLayer& layer) const;
  Json describe_call(const KerasLayer& layer, const std::vector<KerasTensor>& inputs) const;
  Json describe_call(const KerasFunction& function, const std::vector<KerasTensor>& inputs) const;
  Json describe_tensor(const KerasTensor& tensor) const;
  std::string unique(const std::string& name);

  KerasDialect dialect_;
  std::vector<KerasLayer> layers_;
  std::map<std::string, int> names_;
};

/// Returns extents as JSON, with null for the batch in front.
Json batch_shape(const Shape& sample);
/// Returns an object of one of Keras' own classes as Keras 3 writes it; Keras 2 reads this form too.
Json keras3_object(std::string_view module, std::string_view class_name, Json config);

}  // namespace convoke::interop::keras_export

#pragma once
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "convoke/core/table.hpp"
#include "convoke/nn/graph.hpp"

// The tables of layers and functions: those that are one operation in other programs too, with the names of
// both, and the functions that write all others.

namespace convoke::interop {

/// A layer that is one operation in other programs too, of the same inputs, with one number at most. A format
/// reads and writes it by this entry alone; the tables of the formats hold the layers that need a function.
/// The first entry of a `name` is how it is written; the others are only read.
struct PlainLayer {
  struct Number {
    std::string_view name;         ///< our key; empty: the layer has none
    std::string_view onnx, keras;  ///< its attribute there
    std::optional<double> onnx_default = {}, keras_default = {};
  };

  std::string_view name;           ///< our layer
  std::string_view onnx = {};      ///< an operator; empty: it has a function, or does nothing in prediction
  std::string_view keras = {};     ///< a class; empty: an Activation, or it has a function
  std::string_view function = {};  ///< what Keras calls it as an activation
  std::string_view keras2 = {};    ///< the number, or the activation, if Keras 2 calls it otherwise
  Number number = {};
  bool training = false;  ///< does nothing in prediction
};

std::span<const PlainLayer> plain_layers();

/// How the operands and results of a function differ from those of our elementwise layer.
struct ElementForm {
  bool boolean = false;                           ///< gives booleans
  bool takes_booleans = false;                    ///< takes operands other than 0 for 1
  bool swapped = false;                           ///< its operands have the other order
  std::optional<double> before = {}, after = {};  ///< operands that it does not have
};

/// A function of our elementwise layer under the names that other programs have for it; empty: none. The
/// first entry of a `name` is how it is written; the others are only read.
struct ElementFunction {
  std::string_view name;        ///< of our elementwise layer
  std::string_view onnx;        ///< an operator
  std::string_view keras;       ///< a class of keras.ops
  std::string_view tensorflow;  ///< a function of TensorFlow, behind "tf."
  ElementForm form = {};
};

std::span<const ElementFunction> element_functions();

namespace keras_export {
class Composition;
struct KerasTensor;
using ComposeLayer = KerasTensor (*)(Composition& c);
}  // namespace keras_export
namespace onnx_export {
class Emission;
using EmitLayer = void (*)(Emission& e);
}  // namespace onnx_export

/// The functions that write layers of one type.
struct WrittenLayer {
  std::string_view name;
  onnx_export::EmitLayer emit = nullptr;  ///< null: the layer does nothing in prediction
  keras_export::ComposeLayer compose = nullptr;
};

// Families of layers, each with a file in src/interop/written.
extern const std::initializer_list<WrittenLayer> kWrittenActivations;
extern const std::initializer_list<WrittenLayer> kWrittenConvolutions;
extern const std::initializer_list<WrittenLayer> kWrittenNormalizations;
extern const std::initializer_list<WrittenLayer> kWrittenPoolings;
extern const std::initializer_list<WrittenLayer> kWrittenSequences;
extern const std::initializer_list<WrittenLayer> kWrittenStructure;

/// Returns the functions for the type of a node. Throws Error naming the node if there are none.
WrittenLayer written_layer(const nn::Node& node);

}  // namespace convoke::interop

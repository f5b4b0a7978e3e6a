#pragma once
#include <initializer_list>
#include <string_view>

#include "convoke/nn/graph.hpp"

namespace convoke::interop {

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

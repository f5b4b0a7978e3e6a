#include "interop/written_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/nn/layer_table.hpp"
#include "interop/keras/call.hpp"
#include "interop/keras/composition.hpp"
#include "interop/onnx/call.hpp"
#include "interop/onnx/emission.hpp"
#include "interop/plain_layers.hpp"

namespace convoke::interop {
namespace {

constexpr std::array kFamilies{
    &kWrittenActivations, &kWrittenConvolutions, &kWrittenNormalizations,
    &kWrittenPoolings,    &kWrittenSequences,    &kWrittenStructure,
};

/// Returns the entry of a type; without functions if there is none.
WrittenLayer find_layer(std::string_view type) {
  for (const auto* family : kFamilies) {
    if (const WrittenLayer* entry = find_named(*family, type)) return *entry;
  }
  const PlainLayer* plain = find_named(plain_layers(), type);
  if (plain == nullptr) return {type};
  return {type, plain->training ? nullptr : onnx_export::emit_plain, keras_export::compose_plain};
}

std::string in_code(const auto& all) {
  std::vector<std::string> names(all.begin(), all.end());
  for (std::string& name : names) name = "`" + name + "`";
  return join(names) + "\n";
}

}  // namespace

WrittenLayer written_layer(const nn::Node& node) {
  const WrittenLayer layer = find_layer(node.layer->type());
  if (layer.compose != nullptr) return layer;
  throw Error(fmt::format("{}: export does not know the layer \"{}\"", node.name, layer.name));
}

std::string layer_reference() {
  std::string text = "## ONNX operators that become layers\n\n" + in_code(onnx::operator_names());
  text += "\n## Keras layers that are read\n\n" + in_code(keras::layer_classes());
  text += "\n## Layers that are written\n\n| layer | ONNX | Keras |\n|---|---|---|\n";
  for (const nn::LayerHelp& layer : nn::layer_guide()) {
    const bool keras_has = find_layer(layer.name).compose != keras_export::refuse_layer;
    text += fmt::format("| `{}` | yes | {} |\n", layer.name, keras_has ? "yes" : "no");
  }
  return text;
}

}  // namespace convoke::interop

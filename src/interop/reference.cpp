#include <fmt/format.h>

#include "convoke/core/text.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/nn/layer_table.hpp"
#include "interop/keras/call.hpp"
#include "interop/onnx/call.hpp"
#include "interop/written_layers.hpp"

namespace convoke::interop {
namespace {

std::string in_code(const auto& all) {
  std::vector<std::string> names(all.begin(), all.end());
  for (std::string& name : names) name = "`" + name + "`";
  return join(names) + "\n";
}

}  // namespace

std::string layer_reference() {
  std::string text = "## ONNX operators that become layers\n\n" + in_code(onnx::operator_names());
  text += "\n## Keras layers that are read\n\n" + in_code(keras::layer_classes());
  text += "\n## Layers that are written\n\n| layer | ONNX | Keras |\n|---|---|---|\n";
  for (const nn::LayerHelp& layer : nn::layer_guide()) {
    text += fmt::format("| `{}` | yes | {} |\n", layer.name, keras_has(layer.name) ? "yes" : "no");
  }
  return text;
}

}  // namespace convoke::interop

#include "layers.hpp"

#include <fmt/format.h>

#include "convoke/nn/layer_guide.hpp"

namespace convoke::app {
namespace {

constexpr const char* kLayersExamples = R"(Examples:
  convoke layers                 all layers, by family
  convoke layers conv2d          one layer: its keys, their types, defaults and meaning
)";

}  // namespace

void add_layers(CLI::App& parser, LayersOptions& options) {
  parser.add_option("layer", options.name, "The layer to show; without it, all are listed")
      ->type_name("LAYER");
  parser.add_flag("--markdown", options.markdown,
                  "Print all layers and keys as the tables of docs/layers.md");
  parser.footer(kLayersExamples);
}

int layers(const LayersOptions& options) {
  fmt::print("{}", options.markdown       ? nn::layer_reference()
                   : options.name.empty() ? nn::list_layers()
                                          : nn::describe_layer(options.name));
  return EXIT_SUCCESS;
}

}  // namespace convoke::app

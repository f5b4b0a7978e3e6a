#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/options.hpp"
#include "commands.hpp"
#include "convoke/nn/layer_table.hpp"

namespace convoke::app {
namespace {

struct LayersOptions {
  std::string name;       ///< the layer to show; empty: all of them
  bool markdown = false;  ///< print the tables of docs/layers.md
};

constexpr const char* kLayersHelp = R"(Examples:
  convoke layers                 all layers, by family
  convoke layers conv2d          one layer: its keys, their types, defaults and meaning
)";

int layers(const LayersOptions& options) {
  fmt::print("{}", options.markdown       ? nn::layer_reference()
                   : options.name.empty() ? nn::list_layers()
                                          : nn::describe_layer(options.name));
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_layers(CLI::App& parser) {
  auto options = std::make_shared<LayersOptions>();
  add_option(parser, "layer", options->name, "LAYER", "The layer to show; all of them by default");
  parser.add_flag("--markdown", options->markdown,
                  "Print all layers and keys as the tables of docs/layers.md");
  parser.footer(kLayersHelp);
  return [options] { return layers(*options); };
}

}  // namespace convoke::app

#pragma once
#include <string>

namespace convoke::nn {

/// All layers by family, with a line for each: text for a terminal.
std::string list_layers();

/// One layer and its keys with their types, defaults and meaning: text for a terminal. Throws Error with the
/// nearest name if there is no such layer.
std::string describe_layer(const std::string& name);

/// All layers and keys as the Markdown tables of docs/layers.md.
std::string layer_reference();

}  // namespace convoke::nn

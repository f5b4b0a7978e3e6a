#pragma once
#include <string>

namespace convoke::nn {

/// Returns all layers by family, one line each, as text for a terminal.
std::string list_layers();

/// Returns a layer and its keys with types, defaults and meaning, as text for a terminal. Throws Error with
/// the nearest name if there is no such layer.
std::string describe_layer(const std::string& name);

/// Returns all layers and keys as the Markdown tables of docs/layers.md.
std::string layer_reference();

}  // namespace convoke::nn

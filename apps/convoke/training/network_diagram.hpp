#pragma once
#include <string>

#include "convoke/nn/graph.hpp"
#include "convoke/report/diagram.hpp"

namespace convoke::app {

/// Returns the boxes that show a network: a box for each layer with its hyper-parameters, output shape and
/// parameters. A normalization, activation or regularization that is the only reader of a layer is a line in
/// that layer's box.
report::Diagram network_diagram(const nn::Graph& graph, const std::string& title);

}  // namespace convoke::app

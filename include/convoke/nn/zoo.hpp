#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// What may be chosen of a published network.
struct ZooOptions {
  Shape input;                  ///< of one sample; empty: the model's own
  std::int64_t classes = 1000;  ///< outputs of the head, >= 1
  bool head = true;             ///< false: ends in the pooled features
};

/// A published network, `make_zoo_model("resnet50", {.classes = 10})`. Throws Error with the nearest name if
/// there is no such model, and naming the node and both shapes if the input does not fit.
Graph make_zoo_model(const std::string& name, const ZooOptions& options = {});

/// All names, in alphabetical order.
std::vector<std::string> zoo_names();

/// The model's own input, of one sample. Throws Error as make_zoo_model.
Shape zoo_input(const std::string& name);

}  // namespace convoke::nn

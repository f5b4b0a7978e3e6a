#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "convoke/nn/graph.hpp"

namespace convoke::nn {

/// Options of a published network.
struct ZooOptions {
  Shape input;                  ///< shape of one sample; empty: the model's own
  std::int64_t classes = 1000;  ///< outputs of the head, >= 1
  bool head = true;             ///< false: the network ends in the pooled features
};

/// Makes a published network: `make_zoo_model("resnet50", {.classes = 10})`. Throws Error with the nearest
/// name if there is no such model. If the input does not fit, the Error names the node and both shapes.
Graph make_zoo_model(const std::string& name, const ZooOptions& options = {});

/// Returns all names in alphabetical order.
std::vector<std::string> zoo_names();

/// Returns the model's own input, for one sample. Throws Error as make_zoo_model does.
Shape zoo_input(const std::string& name);

/// Returns the value of `data.normalize` that published weights of the model expect: "imagenet" for
/// torchvision's and timm's, "keras-tf", "keras-caffe" or "none" for Keras'; empty if none were published.
/// Throws Error if there is no such model.
std::string zoo_normalization(const std::string& name);

}  // namespace convoke::nn

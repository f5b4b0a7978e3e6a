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

/// Returns the first node of the head of the zoo model `name` ("classifier.0"). From there on, the network is
/// what its paper puts on top of the features. Throws Error if there is no such model.
std::string zoo_head(const std::string& name);

/// Returns the last node of each block of the zoo model `name`, whose graph is `graph`, in order: of each
/// residual block, inverted residual, fire module, inception module, ...; of plain networks, each stage that
/// ends in a pooling. Nodes before the first block (the stem) and between two blocks belong to no block.
/// Empty if the model has no blocks. Throws Error if there is no such model.
std::vector<std::string> zoo_blocks(const std::string& name, const Graph& graph);

/// Returns `patterns` for nn::freeze() after replacing those that depend on the zoo: "backbone" becomes
/// "before:<the head's first node>"; "blocks:3" (the first three blocks, with all nodes before the end of the
/// third) becomes "before:<the next node that has parameters>". `zoo` is the model's name, or empty for a
/// user's own network, for which "backbone" does not change. Throws Error if the model has no blocks or too
/// few.
std::vector<std::string> resolve_parts(const std::string& zoo, const Graph& graph,
                                       std::vector<std::string> patterns);

}  // namespace convoke::nn

#pragma once
#include <string>
#include <vector>

#include "convoke/run/model_file.hpp"

namespace convoke::run {

/// Weights of a model file for a graph that need not be the same: what agrees in name and shape.
struct InitialWeights {
  std::vector<float> values;  ///< canonical, of the whole graph
  std::vector<bool> given;    ///< by parameter of engine::canonical_parameters(): is it in `values`?
  std::vector<std::string>
      initialised;                  ///< parameters of the graph that the file has not, or in another shape
  std::vector<std::string> unused;  ///< parameters of the file that the graph has not

  /// "104 of 106 parameters; initialised: dense_1.weight (10, 64), in the file (100, 64), ...; not used: ..."
  std::string describe() const;
};

/// Takes the weights of `models` (of an ensemble, its first member) that fit `graph`. Throws Error naming
/// `file` if none does.
InitialWeights take_weights(const ModelSet& models, const nn::Graph& graph, const std::string& file);

}  // namespace convoke::run

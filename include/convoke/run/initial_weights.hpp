#pragma once
#include <string>
#include <vector>

#include "convoke/run/model_file.hpp"

namespace convoke::run {

/// The weights of a model file that match a graph in name and shape; the graphs may differ.
struct InitialWeights {
  std::vector<float> values;  ///< canonical, of the whole graph
  std::vector<bool> given;    ///< for each of engine::canonical_parameters(): true if it is in `values`
  std::vector<std::string>
      initialised;                  ///< parameters of the graph that the file lacks or has in another shape
  std::vector<std::string> unused;  ///< parameters of the file that the graph lacks

  /// "104 of 106 parameters; initialised: dense_1.weight (10, 64), in the file (100, 64), ...; not used: ..."
  std::string describe() const;
};

/// Takes the weights of `models` (the first member of an ensemble) that fit `graph`. Throws Error naming
/// `file` if none of them fits.
InitialWeights take_weights(const ModelSet& models, const nn::Graph& graph, const std::string& file);

}  // namespace convoke::run

#pragma once
#include <string>
#include <vector>

#include "convoke/interop/model_io.hpp"
#include "interop/keras/config.hpp"
#include "interop/keras/weights.hpp"

namespace convoke::interop::keras {

/// The description of a model in a file.
struct ModelSource {
  std::string file;     ///< for messages
  const Json& model;    ///< {"class_name": "Functional", "config": {...}}
  const Json& compile;  ///< the settings of model.compile(), or a null
  const WeightSource& weights;
  int keras_version = 3;  ///< 2 for Keras 1 and 2
  const Json& facts;      ///< class names and normalization of a model that Convoke wrote, or a null
};

/// Converts the model. Throws Error naming the file, the layer and its class.
Imported convert_model(const ModelSource& source, const ImportOptions& options);

/// Lists the layers with weights of `model`, in their order, with their weights.
std::vector<StoredLayer> layers_with_weights(const Json& model, const WeightSource& weights);

/// Takes the weights that fit `graph`: by the layers' names, which for VGG are those of Keras Applications,
/// and, if Keras numbered them ("conv2d_12"), by their order among layers of one kind. Throws Error naming
/// the file if none fits.
run::InitialWeights match_layers(const std::vector<StoredLayer>& layers, const nn::Graph& graph,
                                 const std::string& file);

}  // namespace convoke::interop::keras

#pragma once
#include <string>
#include <vector>

#include "convoke/interop/model_io.hpp"
#include "interop/keras/config.hpp"
#include "interop/keras/weights.hpp"

namespace convoke::interop::keras {

/// The description of a model in a file, and its weights.
struct ModelSource {
  std::string file;        ///< for messages
  Json model;              ///< {"class_name": "Functional", "config": {...}}
  Json compile = nullptr;  ///< the settings of model.compile(), or a null
  WeightSource weights = {};
  int keras_version = 3;      ///< 2 for Keras 1 and 2
  bool made_in_tfjs = false;  ///< by TensorFlow.js itself, which interpolates in another way
  Json facts = nullptr;       ///< class names and normalization of a model that Convoke wrote, or a null
  std::vector<std::string> notes = {};  ///< sentences about the file, for Imported::notes
};

/// Converts the model. Throws Error naming the file, the layer and its class.
Imported convert_model(const ModelSource& source, const ImportOptions& options);

/// Takes the weights that fit `graph`: by the layers' names, which for VGG are those of Keras Applications,
/// and, if Keras numbered them ("conv2d_12"), by their order among layers of one kind. Throws Error naming
/// the file if none fits.
run::InitialWeights match_layers(const std::vector<StoredLayer>& layers, const nn::Graph& graph,
                                 const std::string& file);
/// The same with the layers of a model, in their order.
run::InitialWeights match_layers(const ModelSource& source, const nn::Graph& graph);

}  // namespace convoke::interop::keras

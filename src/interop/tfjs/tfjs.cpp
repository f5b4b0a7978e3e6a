#include "interop/tfjs/tfjs.hpp"

#include <fmt/format.h>

#include <memory>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "interop/keras/model_reader.hpp"
#include "interop/tfjs/manifest.hpp"

namespace convoke::interop::tfjs {
namespace {

using keras::Json;
using keras::member;

/// A model.json with its weights.
struct Model {
  Json json;
  Json config;  ///< {"class_name": ..., "config": ...}, as Keras has it
  int keras_version = 2;
  std::set<std::string> converted = {};
  std::unique_ptr<keras::WeightSource> weights = {};
};

Model open_model(const std::filesystem::path& file) {
  const os::File opened(file, os::Access::kRead);
  const std::string where = file.string();
  if (opened.size() > keras::kMostJson) {
    throw Error(fmt::format("{}: has {}, more than the description of any model", where,
                            format_bytes(opened.size())));
  }
  Model model{.json = keras::parse_json(opened.text(), where), .config = {}};
  const Json& topology = member(model.json, "modelTopology");
  if (member(model.json, "format") == Json("graph-model") || topology.contains("node")) {
    throw Error(
        fmt::format("{}: is a graph-model, a program rather than a list of layers", where),
        "take the model as layers-model or .keras, or convert its TensorFlow original to ONNX: python "
        "-m tf2onnx.convert --saved-model FOLDER --output model.onnx");
  }
  const Json& config = member(topology, "model_config");
  model.config = config.is_string()   ? keras::parse_json(config.get<std::string>(), where)
                 : config.is_object() ? config
                                      : topology;
  if (keras::text_of(member(topology, "keras_version")).starts_with("3.")) model.keras_version = 3;
  Manifest manifest = open_manifest(file, member(model.json, "weightsManifest"));
  model.converted = std::move(manifest.converted);
  model.weights = keras::named_weights(std::move(manifest.tensors));
  return model;
}

}  // namespace

bool is_tfjs(const Probe& probe) {
  const std::size_t first = probe.beginning.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || probe.beginning[first] != '{') return false;
  const os::File file(probe.file, os::Access::kRead);
  return file.size() <= keras::kMostJson && file.text().find("\"modelTopology\"") != std::string::npos;
}

Imported read_tfjs(const std::filesystem::path& file, const ImportOptions& options) {
  const Model model = open_model(file);
  const Json none;
  Imported imported =
      keras::convert_model({.file = file.string(),
                            .model = model.config,
                            .compile = member(member(model.json, "modelTopology"), "training_config"),
                            .weights = *model.weights,
                            .keras_version = model.keras_version,
                            .facts = none},
                           options);
  for (const std::string& type : model.converted) {
    imported.notes.push_back(fmt::format("weights of {} were converted to float32", type));
  }
  return imported;
}

run::InitialWeights read_tfjs_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                      const WeightOptions&) {
  const Model model = open_model(file);
  return keras::match_layers(keras::layers_with_weights(model.config, *model.weights), graph, file.string());
}

}  // namespace convoke::interop::tfjs

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <span>
#include <utility>

#include "convoke/archive/zip.hpp"
#include "convoke/core/error.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/nn/losses/loss.hpp"
#include "convoke/os/atomic_file.hpp"
#include "interop/format.hpp"
#include "interop/keras/composition.hpp"
#include "interop/keras/config.hpp"
#include "interop/layer_tables.hpp"
#include "interop/model_builder.hpp"
#include "interop/outputs.hpp"

namespace convoke::interop::keras_export {
namespace {

// Whose configuration these files have.
constexpr const char* kKeras3 = "3.0.0";
constexpr const char* kKeras2 = "2.15.0";
constexpr const char* kOptimizer = "Adam";

// A model with its output, and the values that fill its weights.
struct Written {
  FunctionalModel model;
  KerasTensor output;
  std::vector<ModelWeights> weights;
};

// input = value * scale + shift; Keras' Normalization is (value - mean) / sqrt(variance).
KerasTensor compose_normalization(FunctionalModel& out, const data::Normalization& normalization,
                                  const KerasTensor& input) {
  const auto& [scale, shift, reversed] = normalization;
  if (reversed) {
    throw Error("the network takes channels in reverse order (BGR), which no layer of Keras makes of pixels",
                "leave out --raw-input, and reverse them before: x[..., ::-1]");
  }
  const auto equal = [](const std::vector<float>& v) {
    return std::count(v.begin(), v.end(), v[0]) == std::ssize(v);
  };
  if (equal(scale) && equal(shift)) {
    return out.add("Rescaling", "normalization", {{"scale", scale[0]}, {"offset", shift[0]}}, {}, {input},
                   input.shape);
  }
  for (std::size_t i = 0; i < scale.size(); ++i) {
    if (scale[i] > 0) continue;
    throw Error(
        fmt::format("the normalization's scale of channel {} is {}, which Keras cannot express", i, scale[i]),
        "leave out --raw-input");
  }
  return out.add(
      "Normalization", "normalization",
      normalization_config(statistics_of({scale.begin(), scale.end()}, {shift.begin(), shift.end()})), {},
      {input}, input.shape);
}

Written compose_all(const run::ModelSet& models, const ExportOptions& options, KerasDialect dialect) {
  const run::ModelDescription& description = models.description;
  const nn::Graph& graph = description.graph;
  Written written{FunctionalModel(dialect), {}, {}};
  FunctionalModel& out = written.model;
  for (const run::Member& member : models.members) written.weights.emplace_back(graph, member.parameters);
  KerasTensor input =
      out.add_input(keras_shape(graph.input_shape()), graph.input_shape().type == nn::ValueType::kToken);
  if (normalizes(description, options)) input = compose_normalization(out, description.normalization, input);
  if (models.members.size() == 1) {
    written.output = compose_model(out, graph, written.weights[0], "", input);
    return written;
  }
  const std::string missing(missing_activation(description));
  std::vector<KerasTensor> votes;
  for (std::size_t i = 0; i < written.weights.size(); ++i) {
    const std::string member = fmt::format("member_{}_", i);
    KerasTensor vote = compose_model(out, graph, written.weights[i], member, input);
    if (!missing.empty()) {
      vote =
          out.add("Activation", member + "probabilities", {{"activation", missing}}, {}, {vote}, vote.shape);
    }
    votes.push_back(vote);
  }
  const Shape shape = votes[0].shape;
  written.output = out.add("Average", "mean", Json::object(), {}, std::move(votes), shape);
  return written;
}

struct Compilation {
  Json optimizer, loss;
  std::string loss_class;
};

Compilation compilation_of(const run::ModelSet& models) {
  const nn::Loss& loss = *models.description.loss;
  const Settings settings = loss.settings();
  const std::string name = std::get<std::string>(settings.find("name")->data());
  const keras::LossName& own = *find_named(keras::kLossNames, name);
  Compilation compilation;
  compilation.optimizer = {
      {"name", "adam"}, {"learning_rate", 0.001}, {"beta_1", 0.9}, {"beta_2", 0.999}, {"epsilon", 1e-7}};
  compilation.loss_class = own.class_name;
  compilation.loss = {{"name", own.function}, {"reduction", "sum_over_batch_size"}};
  if (!loss.activation().empty()) {
    const bool logits = models.members.size() == 1 && !missing_activation(models.description).empty();
    compilation.loss["from_logits"] = logits;
  }
  if (const Value* gamma = settings.find("gamma")) {
    compilation.loss["gamma"] = std::get<double>(gamma->data());
    compilation.loss["alpha"] = 1.0;  // Keras' default is 0.25; ignored by the binary loss
  }
  return compilation;
}

void write_weight(hdf5::Group& group, const std::string& path, const KerasWeight& weight) {
  const std::vector<float> values = weight.make();
  group.write(path, std::span<const float>(values), weight.shape);
}

// Keras numbers the layers of each class in its order: layers/conv2d, layers/conv2d_1, ...; their variables
// are vars/0, vars/1, ... of the object that holds them.
void write_keras3_weights(const std::filesystem::path& file, const Written& written) {
  hdf5::File out = hdf5::File::create(file);
  std::map<std::string, int> used;
  for (const std::size_t i : written.model.order(written.output)) {
    const KerasLayer& layer = written.model.layers()[i];
    const std::string kind = keras::snake_case(layer.class_name);
    const int number = used[kind]++;
    const std::string base = "layers/" + (number == 0 ? kind : fmt::format("{}_{}", kind, number));
    std::map<std::string, int> variables;
    for (const KerasWeight& weight : layer.weights) {
      const std::string holder = weight.path.empty() ? base : base + "/" + weight.path;
      write_weight(out, fmt::format("{}/vars/{}", holder, variables[holder]++), weight);
    }
  }
  out.close();
}

Json facts_of(const run::ModelSet& models, const ExportOptions& options) {
  const run::ModelDescription& description = models.description;
  Json facts{{"convoke_version", CONVOKE_VERSION}};
  facts.update(input_facts(description, options));
  facts.update(output_facts(description, models.members.size() > 1));
  return facts;
}

Json keras3_config(const Written& written, const run::ModelSet& models) {
  const Compilation compilation = compilation_of(models);
  Json config{{"module", "keras.src.models.functional"},
              {"class_name", "Functional"},
              {"config", written.model.config(written.output)},
              {"registered_name", "Functional"}};
  config["compile_config"] = {
      {"optimizer", keras3_object("keras.optimizers", kOptimizer, compilation.optimizer)},
      {"loss", keras3_object("keras.losses", compilation.loss_class, compilation.loss)},
      {"loss_weights", nullptr},
      {"metrics", Json::array({"accuracy"})},
      {"weighted_metrics", nullptr}};
  return config;
}

// An attribute holds at most 64 kB: longer lists are numbered parts, as Keras reads them.
void write_names(hdf5::Group& group, const std::string& attribute, std::span<const std::string> names) {
  constexpr std::size_t kMost = 2000;  // of 16 bytes each
  if (names.size() <= kMost) return group.set_attribute(attribute, names);
  for (std::size_t i = 0; i * kMost < names.size(); ++i) {
    const auto part = names.subspan(i * kMost);
    group.set_attribute(fmt::format("{}{}", attribute, i), part.first(std::min(kMost, part.size())));
  }
}

void write_keras2_weights(hdf5::File& out, const Written& written) {
  hdf5::Group weights = out.create_group("model_weights");
  std::vector<std::string> names;
  for (const std::size_t i : written.model.order(written.output)) {
    const KerasLayer& layer = written.model.layers()[i];
    names.push_back(layer.name);
    hdf5::Group group = weights.create_group(layer.name);
    std::vector<std::string> own;
    for (const KerasWeight& weight : layer.weights) {
      const std::string path = weight.path.empty() ? layer.name : layer.name + "/" + weight.path;
      own.push_back(fmt::format("{}/{}:0", path, weight.name));
      write_weight(group, own.back(), weight);
    }
    if (!own.empty()) group.set_attribute("weight_names", std::span<const std::string>(own));
  }
  write_names(weights, "layer_names", names);
  weights.set_attribute("backend", "tensorflow");
  weights.set_attribute("keras_version", kKeras2);
}

Json keras2_training(const run::ModelSet& models) {
  const Compilation compilation = compilation_of(models);
  return {{"loss", {{"class_name", compilation.loss_class}, {"config", compilation.loss}}},
          {"metrics", Json::array({"accuracy"})},
          {"weighted_metrics", nullptr},
          {"loss_weights", nullptr},
          {"optimizer_config", {{"class_name", kOptimizer}, {"config", compilation.optimizer}}}};
}

}  // namespace

std::vector<std::filesystem::path> write_keras(const std::filesystem::path& file, const run::ModelSet& models,
                                               const ExportOptions& options) {
  const Written written = compose_all(models, options, KerasDialect::kKeras3);
  Json metadata{{"keras_version", kKeras3}};
  metadata.update(facts_of(models, options));
  const auto write = [&](const std::filesystem::path& temporary) {
    const std::filesystem::path weights = os::make_temporary(file);
    try {
      write_keras3_weights(weights, written);
      const archive::ZipEntry entries[] = {
          {.name = "metadata.json", .text = metadata.dump()},
          {.name = "config.json", .text = keras3_config(written, models).dump()},
          {.name = "model.weights.h5", .file = weights}};
      archive::write_zip(temporary, entries);
    } catch (...) {
      std::filesystem::remove(weights);
      throw;
    }
    std::filesystem::remove(weights);
  };
  os::replace_file(file, write, os::Durability::kUnsynced);  // an export can be repeated
  return {file};
}

std::vector<std::filesystem::path> write_keras_h5(const std::filesystem::path& file,
                                                  const run::ModelSet& models, const ExportOptions& options) {
  const Written written = compose_all(models, options, KerasDialect::kKeras2);
  const Json model{{"class_name", "Functional"}, {"config", written.model.config(written.output)}};
  const auto write = [&](const std::filesystem::path& temporary) {
    hdf5::File out = hdf5::File::create(temporary);
    out.set_attribute("keras_version", kKeras2);
    out.set_attribute("backend", "tensorflow");
    out.set_attribute("model_config", model.dump());
    out.set_attribute("training_config", keras2_training(models).dump());
    const Json facts = facts_of(models, options);  // named: items() refers to it
    for (const auto& [key, value] : facts.items()) {
      out.set_attribute(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
    write_keras2_weights(out, written);
    out.close();
  };
  os::replace_file(file, write, os::Durability::kUnsynced);
  return {file};
}

}  // namespace convoke::interop::keras_export

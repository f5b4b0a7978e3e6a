#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/samples.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/os/atomic_file.hpp"
#include "interop/format.hpp"
#include "interop/outputs.hpp"

namespace convoke::interop {
namespace {

// Any other HDF5 file or folder too: load_models() says what is wrong with it.
bool may_be_convoke(const Probe& probe) {
  return std::filesystem::is_directory(probe.file) || probe.beginning.starts_with("\x89HDF\r\n");
}

Imported read_convoke(const std::filesystem::path& file, const ImportOptions&) {
  return {.models = run::load_models(file)};
}

std::vector<std::filesystem::path> write_convoke(const std::filesystem::path& file,
                                                 const run::ModelSet& models, const ExportOptions&) {
  os::replace_file(file, [&](const std::filesystem::path& temporary) {
    if (models.ensemble) {
      std::vector<const run::Member*> members;
      for (const run::Member& member : models.members) members.push_back(&member);
      run::write_ensemble(temporary, models.description, members);
    } else {
      run::write_model(temporary, models.description, models.members.front().parameters);
    }
    run::require_written(temporary, models);
  });
  return {file};
}

// In the order in which they are asked for their files.
constexpr std::array kFormats{
    Format{.name = "onnx",
           .extension = ".onnx",
           .help = "ONNX, of PyTorch, TensorFlow, Keras, PaddlePaddle and others",
           .recognizes = is_onnx,
           .read = read_onnx,
           .write = onnx_export::write_onnx,
           .normalizes = true},
    Format{.name = "keras",
           .extension = ".keras",
           .help = "Keras 3 model, for keras.models.load_model",
           .recognizes = keras::is_keras,
           .read = keras::read_keras,
           .read_weights = keras::read_keras_weights,
           .write = keras_export::write_keras,
           .normalizes = true},
    Format{.name = "h5",
           .extension = ".h5",
           .help = "whole-model HDF5 of Keras 2 and 3",
           .recognizes = keras::is_h5,
           .read = keras::read_h5,
           .read_weights = keras::read_h5_weights,
           .write = keras_export::write_keras_h5,
           .normalizes = true},
    Format{.name = "keras-weights",
           .extension = ".weights.h5",
           .help = "weights of Keras without the model",
           .recognizes = keras::is_h5_weights,
           .read_weights = keras::read_h5_weights},
    Format{.name = "tfjs",
           .extension = ".json",
           .help = "a layers-model of TensorFlow.js: model.json, with its weights next to it",
           .recognizes = tfjs::is_tfjs,
           .read = tfjs::read_tfjs,
           .read_weights = tfjs::read_tfjs_weights},
    Format{.name = "safetensors",
           .extension = ".safetensors",
           .help = "weights under the names of torchvision, timm or the layers",
           .recognizes = is_safetensors,
           .read_weights = read_safetensors_weights,
           .write = write_safetensors},
    Format{.name = "convoke",
           .extension = ".h5",
           .help = "Convoke's own model.h5 and ensemble.h5, or a run folder",
           .recognizes = may_be_convoke,
           .read = read_convoke,
           .write = write_convoke},
};

// A file of another program that says nothing about normalization takes its samples as they are.
void resolve_normalization(Imported& imported) {
  run::ModelDescription& model = imported.models.description;
  const nn::ValueSpec& input = model.graph.input_shape();
  imported.raw_input_stated = imported.raw_input;
  imported.raw_input = imported.raw_input_stated || normalizes_itself(model.graph);
  if (input.type == nn::ValueType::kToken || !model.normalization.scale.empty()) return;
  const auto channels = static_cast<std::size_t>(data::channel_count(data::SampleType::kFloat32, input));
  model.normalization.scale.assign(channels, 1.0F);
  model.normalization.shift.assign(channels, 0.0F);
  if (input.rank() == 3 && !imported.raw_input_stated) {
    imported.normalization_note =
        imported.raw_input ? "pixels enter as 0..255: the network normalizes them itself"
                           : "the file does not say how pictures are normalized, so pixels enter as 0..255; "
                             "convoke import --normalize changes that";
  }
}

const Format& format_of(const std::filesystem::path& file) {
  const Probe probe = probe_of(file);
  require_not_refused(probe);
  const auto format = std::find_if(kFormats.begin(), kFormats.end(),
                                   [&](const Format& candidate) { return candidate.recognizes(probe); });
  if (format == kFormats.end()) {
    throw Error(fmt::format("{}: is not a model in a format that Convoke reads", file.string()),
                fmt::format("it reads {}", join(names_in(kFormats))));
  }
  return *format;
}

// Reads a model; what cannot be converted ends in a hint.
Imported read_foreign(const Format& format, const std::filesystem::path& file, const ImportOptions& options) {
  try {
    return format.read(file, options);
  } catch (const Error& error) {
    if (!error.hint().empty() || format.read == read_convoke) throw;
    throw Error(error.what(),
                "change this part of the model where it was made, and save it again; "
                "docs/interop-layers.md lists what Convoke reads");
  }
}

// Throws Error for options that a model of Convoke, with its one input and output, cannot follow.
void require_own(const nn::Graph& graph, const std::filesystem::path& file, const ImportOptions& options) {
  const nn::ValueSpec& input = graph.input_shape();
  if (options.input.rank() > 0 && options.input != Shape(input)) {
    throw Error(fmt::format("{}: takes samples {}, not {}", file.string(), input.with_batch(),
                            options.input.with_batch()),
                "--input is for files that leave their input open");
  }
  if (options.output.empty()) return;
  throw Error(
      fmt::format("{}: a model of Convoke has one output, so none is \"{}\"", file.string(),
                  one_line(options.output)),
      "for a value within the network: convoke export MODEL --format onnx, and --output-node with that file");
}

// Returns the number that the layer adds to a variance before it takes the root.
double epsilon_of(const nn::Node& node) {
  const Settings settings = node.layer->settings();
  SettingsReader read(settings, node.name);
  return read.get("epsilon", 0.0);
}

std::string values_text(std::ptrdiff_t count, std::size_t of) {
  const auto all = static_cast<std::int64_t>(of);
  return fmt::format("{} of {} {}", format_count(count), format_count(all), plural(all, "value"));
}

// Throws Error naming `file` and the parameters among `values` (canonical) with NaN or infinite values, or
// with variances that are negative even with epsilon: the outputs would be NaN. Returns a sentence for each
// parameter with variances that only epsilon makes positive.
std::vector<std::string> require_sound(const nn::Graph& graph, std::span<const float> values,
                                       const std::string& file) {
  std::vector<std::string> bad, notes;
  for (const engine::CanonicalParameter& parameter : engine::canonical_parameters(graph)) {
    const std::span<const float> own = values.subspan(parameter.offset, parameter.size());
    const auto count = [&](auto test) { return std::ranges::count_if(own, test); };
    const std::ptrdiff_t broken = count([](float v) { return !std::isfinite(v); });
    if (broken > 0) {
      bad.push_back(fmt::format("{} ({} not finite)", parameter.name, values_text(broken, own.size())));
      continue;
    }
    if (!parameter.name.ends_with("running_variance")) continue;
    const std::ptrdiff_t negative = count([](float v) { return v < 0; });
    if (negative == 0) continue;
    const double epsilon =
        epsilon_of(graph.node(graph.find(parameter.name.substr(0, parameter.name.rfind('.')))));
    const float least = *std::ranges::min_element(own);
    const std::string text =
        fmt::format("{} negative, the least {:.3g}", values_text(negative, own.size()), least);
    if (static_cast<double>(least) + epsilon > 0) {
      notes.push_back(fmt::format("{} is a variance with {}; with epsilon {:.3g} it is positive",
                                  parameter.name, text, epsilon));
    } else {
      bad.push_back(fmt::format("{} ({})", parameter.name, text));
    }
  }
  if (bad.empty()) return notes;
  constexpr std::size_t kShown = 6;
  const std::string more = bad.size() > kShown ? fmt::format(" and {} more", bad.size() - kShown) : "";
  bad.resize(std::min(bad.size(), kShown));
  throw Error(
      fmt::format("{}: has weights with which the network gives NaN: {}{}", file, join(bad), more),
      "the training that wrote the file diverged, or the file is damaged: take an earlier checkpoint");
}

// True if the parameters of both graphs have the same names.
bool same_names(const nn::Graph& a, const nn::Graph& b) {
  const auto names = [](const nn::Graph& graph) {
    std::set<std::string> all;
    for (const engine::CanonicalParameter& parameter : engine::canonical_parameters(graph)) {
      all.insert(parameter.name);
    }
    return all;
  };
  return names(a) == names(b);
}

// The weights of the file's own network, if `graph` is that network, perhaps with another head. Then the
// names that the import gave its nodes say which weights are whose, and no other rule is needed.
std::optional<run::InitialWeights> weights_of_own_network(const Format& format,
                                                          const std::filesystem::path& file,
                                                          const nn::Graph& graph) {
  if (format.read == nullptr) return std::nullopt;
  try {
    const run::ModelSet models = format.read(file, {.input = graph.input_shape()}).models;
    if (!same_names(models.description.graph, graph)) return std::nullopt;
    return run::take_weights(models, graph, file.string());
  } catch (const Error&) {
    return std::nullopt;  // a layer that cannot be converted, or another input: its weights may fit all the
                          // same
  }
}

run::InitialWeights weights_in(const std::filesystem::path& file, const nn::Graph& graph,
                               const WeightOptions& options) {
  const Format& format = format_of(file);
  if (format.read_weights == nullptr) {
    return run::take_weights(format.read(file, {.input = graph.input_shape()}).models, graph, file.string());
  }
  if (options.zoo.empty() && !options.prefix) {
    if (auto own = weights_of_own_network(format, file, graph)) return std::move(*own);
  }
  return format.read_weights(file, graph, options);
}

}  // namespace

Probe probe_of(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  if (fs::is_directory(file)) return {.file = file, .beginning = {}};
  if (!fs::exists(file)) {
    if (fs::exists(file.string() + ".index")) return {.file = file, .beginning = {}};  // TensorFlow's
    throw Error(fmt::format("{}: no such file", file.string()));
  }
  Probe probe{.file = file, .beginning = std::string(512, '\0')};
  const os::File opened(file, os::Access::kRead);
  probe.beginning.resize(opened.read_some_at(0, std::as_writable_bytes(std::span(probe.beginning))));
  return probe;
}

bool is_model(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file)) return false;
  const Probe probe = probe_of(file);
  return is_refused(probe) || std::any_of(kFormats.begin(), kFormats.end(),
                                          [&](const Format& format) { return format.recognizes(probe); });
}

std::filesystem::path find_model(const std::filesystem::path& file_or_run) {
  const auto has = [&](const char* name) { return std::filesystem::exists(file_or_run / name); };
  if (std::filesystem::is_directory(file_or_run) && !has("model.h5") && !has("ensemble.h5")) {
    require_not_refused(probe_of(file_or_run));
  }
  return run::find_model_file(file_or_run);
}

Imported read_model(const std::filesystem::path& file, const ImportOptions& options) {
  const Format& format = format_of(file);
  if (format.read == nullptr) {
    throw Error(fmt::format("{}: holds weights without the network", file.string()),
                fmt::format("name the network: convoke import --zoo resnet50, or in a recipe: [model] zoo = "
                            "\"resnet50\", weights = \"{}\"",
                            file.string()));
  }
  Imported imported = read_foreign(format, file, options);
  if (format.read == read_convoke) require_own(imported.models.description.graph, file, options);
  resolve_normalization(imported);
  try {
    run::require_storable(imported.models.description);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", file.string(), error.what()), error.hint());
  }
  for (const run::Member& member : imported.models.members) {
    for (std::string& note :
         require_sound(imported.models.description.graph, member.parameters, file.string())) {
      imported.notes.push_back(std::move(note));
    }
  }
  return imported;
}

run::InitialWeights read_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                 const WeightOptions& options) {
  run::InitialWeights weights = weights_in(file, graph, options);
  // A smaller network would take its part of a larger one's weights.
  if (!weights.unused.empty() && !options.partial) {
    throw Error(fmt::format("{}: has {} that {} lacks: {}", file.string(),
                            counted(std::ssize(weights.unused), "weight"),
                            options.zoo.empty() ? "the network" : options.zoo, weights.describe()),
                "choose the network that they belong to, or leave the rest out if it is not needed: partial "
                "= true in [model] of a recipe, or import --partial. import --prefix chooses one of several "
                "models in the file");
  }
  require_sound(graph, weights.values, file.string());
  return weights;
}

std::vector<std::filesystem::path> write_model(const std::filesystem::path& file, const run::ModelSet& models,
                                               const std::string& name, const ExportOptions& options) {
  const Format& format = find_in(kFormats, name, "format");
  if (format.write == nullptr) {
    throw Error(fmt::format("Convoke does not write the format \"{}\"", name), "choose another --format");
  }
  if (options.raw_input && !format.normalizes) {
    std::vector<Format> others(kFormats.begin(), kFormats.end());
    std::erase_if(others, [](const Format& other) { return !other.normalizes; });
    throw Error(
        fmt::format("--raw-input has no effect on the format \"{}\": such a file cannot normalize", name),
        fmt::format("leave it out, or choose one of the formats {}", join(names_in(others))));
  }
  return format.write(file, models, options);
}

std::vector<FormatHelp> formats() {
  std::vector<FormatHelp> list;
  for (const Format& format : kFormats) {
    list.push_back({.name = std::string(format.name),
                    .extension = std::string(format.extension),
                    .help = std::string(format.help),
                    .reads_graph = format.read != nullptr,
                    .reads_weights = format.read_weights != nullptr,
                    .writes = format.write != nullptr,
                    .normalizes = format.normalizes});
  }
  return list;
}

}  // namespace convoke::interop

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "commands.hpp"
#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/normalization.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/nn/zoo.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/file.hpp"

namespace convoke::app {
namespace {

struct ImportOptions {
  std::string file, output;
  std::string zoo;                    ///< for a file of weights: the published network; empty: none
  std::optional<std::string> prefix;  ///< in front of the names of that file's weights
  bool partial = false;               ///< weights that the network lacks are left out
  std::int64_t classes = 0;           ///< outputs of that network; 0: its own
  ModelReading reading;
  std::string normalize;    ///< how samples are normalized; empty: as the file says
  std::string class_names;  ///< a file with one name in each line
};

constexpr const char* kImportHelp = R"(Examples:
  convoke import model.onnx --output model.h5            ONNX, from PyTorch, TensorFlow, Keras, ...
  convoke import model.keras --output model.h5           a model of Keras; also .h5
  convoke import resnet50.safetensors --zoo resnet50 --output model.h5
                                                         weights of torchvision or timm
  convoke import model.onnx --input 3,224,224 --output model.h5
                                                         a model that takes pictures of any size

predict, evaluate, export, summary and bench take such files directly:
  convoke predict model.onnx picture.png

A recipe starts from one, with its weights, and a new head for 5 classes:
  [model]
  file = "model.onnx"
  classes = 5
)";

// Reads one name from each line; lines may end as in Windows.
std::vector<std::string> class_names_in(const std::string& file, std::int64_t classes) {
  std::istringstream text(os::File(file, os::Access::kRead).text());
  std::vector<std::string> names;
  for (std::string line; std::getline(text, line);) names.push_back(trimmed(line));
  while (!names.empty() && names.back().empty()) names.pop_back();
  const auto empty = std::ranges::find(names, "");
  if (empty != names.end()) {
    throw Error(fmt::format("{}:{}: the line is empty", file, empty - names.begin() + 1),
                "each line is the name of one class");
  }
  if (const std::string twice = repeated_name(names); !twice.empty()) {
    throw Error(fmt::format("{}: \"{}\" is given twice", file, twice), "classes have different names");
  }
  if (std::ssize(names) != classes) {
    throw Error(fmt::format("{}: has {} names, but the model has {} classes", file, names.size(), classes),
                "give one name for each class, in the order of the outputs");
  }
  return names;
}

data::Normalization normalization_of(const std::string& name, const Shape& input) {
  const auto type = input.rank() == 3 ? data::SampleType::kUint8 : data::SampleType::kFloat32;
  const std::vector<std::string> known = data::normalization_names();
  try {
    return data::normalization_from(name, {.sample_shape = input, .sample_type = type}, "the model's input");
  } catch (const Error& error) {
    if (std::ranges::find(known, name) == known.end()) throw;
    throw Error(error.what(), "give --normalize none if the model takes samples as they are stored");
  }
}

// Returns the published network with the weights of the file, which must have all of them.
interop::Imported read_for_zoo(const ImportOptions& options) {
  nn::ZooOptions network{.input = options.reading.import.input};
  if (options.classes > 0) network.classes = options.classes;
  nn::Graph graph = nn::make_zoo_model(options.zoo, network);
  run::InitialWeights weights = interop::read_weights(
      options.file, graph, {.zoo = options.zoo, .prefix = options.prefix, .partial = options.partial});
  if (!weights.initialized.empty()) {
    throw Error(
        fmt::format("{}: lacks weights of {}: {}", options.file, options.zoo, weights.describe()),
        fmt::format(
            "if only the last layer differs, add --classes N with its number of outputs; otherwise train "
            "the others, with zoo = \"{}\" and weights = \"{}\" in [model] of a recipe",
            options.zoo, options.file));
  }
  interop::Imported imported{.models = {.description = {.graph = std::move(graph),
                                                        .normalization = std::move(weights.normalization),
                                                        .class_names = {}},
                                        .members = {}}};
  imported.models.members.emplace_back().parameters = std::move(weights.values);
  imported.notes.push_back(weights.describe());
  if (!imported.models.description.normalization.scale.empty()) {
    imported.normalization_note =
        "samples are normalized as the file of weights expects; --normalize changes that";
  }
  return imported;
}

// Reads a model of another program and writes it as model.h5.
int import_model(const ImportOptions& options) {
  // 1. The model, or weights for a published network.
  os::require_replaceable(options.output);
  for (const std::string& read : {options.file, options.class_names}) {
    os::require_other_file(options.output, read);
  }
  interop::Imported imported =
      options.zoo.empty() ? interop::read_model(options.file, options.reading.import) : read_for_zoo(options);
  run::ModelDescription& model = imported.models.description;

  // 2. Facts that the file does not have.
  const std::string published = options.zoo.empty() ? "" : nn::zoo_normalization(options.zoo);
  if (!options.normalize.empty()) {
    const bool twice = imported.raw_input && options.normalize != "none";
    if (twice && imported.raw_input_stated) {
      throw Error(
          fmt::format("{}: the network normalizes its input itself, and --normalize {} would do so again",
                      options.file, options.normalize),
          "leave out --normalize");
    }
    if (twice) {
      imported.notes.push_back(fmt::format(
          "the first layers look as if they normalize the input; --normalize {} does so before them",
          options.normalize));
    }
    model.normalization = normalization_of(options.normalize, model.graph.input_shape());
  } else if (model.normalization.scale.empty() && !published.empty()) {
    model.normalization = normalization_of(published, model.graph.input_shape());
    imported.notes.push_back(fmt::format(
        "pixels are normalized as \"{}\", as published weights of {} expect; --normalize changes that",
        published, options.zoo));
  } else if (!imported.normalization_note.empty()) {
    imported.notes.push_back(imported.normalization_note);
  }
  interop::declare_outputs(imported, options.reading.outputs);
  if (!options.class_names.empty()) model.class_names = class_names_in(options.class_names, model.classes());

  // 3. Convoke's own file.
  interop::write_model(options.output, imported.models, "convoke");
  if (!imported.outputs_note.empty()) imported.notes.push_back(imported.outputs_note);
  for (const std::string& note : imported.notes) fmt::print("note: {}\n", note);
  fmt::print("{}: {} -> {}, {} parameters\n", options.output, model.graph.input_shape().with_batch(),
             model.graph.output_shape().with_batch(), format_count(model.graph.parameter_count()));
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_import(CLI::App& parser) {
  auto options = std::make_shared<ImportOptions>();
  std::vector<std::string> readable;
  for (const interop::FormatHelp& format : interop::formats()) {
    const bool listed = std::ranges::find(readable, format.extension) != readable.end();  // .h5 has two forms
    if (!listed && (format.reads_graph || format.reads_weights)) readable.push_back(format.extension);
  }
  add_option(parser, "file", options->file, "FILE", fmt::format("The model to read: {}", join(readable)))
      ->required();
  add_option(parser, "-o,--output", options->output, "MODEL.h5", "The file to write")->required();
  add_option(parser, "--zoo", options->zoo, "NETWORK",
             "For a file that holds weights alone: the published network that they belong to");
  add_option(parser, "--prefix", options->prefix, "TEXT",
             "The text in front of the names of these weights in the file, e.g. module. or ema.; by default "
             "the one that fits")
      ->needs("--zoo");
  parser.add_flag("--partial", options->partial, "Leave out weights in the file that --zoo does not have")
      ->needs("--zoo");
  add_option(parser, "--classes", options->classes, "N", "The number of outputs of --zoo; its own by default")
      ->check(positive())
      ->needs("--zoo");
  add_model_reading(parser, options->reading);
  add_option(
      parser, "--normalize", options->normalize, "NAME",
      "How pixels are normalized before the network, e.g. unit, imagenet; by default as the file says, "
      "or as the published weights of --zoo expect");
  add_option(parser, "--class-names", options->class_names, "FILE",
             "A text file with the name of one class in each line");
  parser.footer(kImportHelp);
  return [options] { return import_model(*options); };
}

}  // namespace convoke::app

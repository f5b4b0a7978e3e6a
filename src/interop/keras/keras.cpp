#include <fmt/format.h>

#include <memory>

#include "convoke/archive/zip.hpp"
#include "convoke/core/error.hpp"
#include "convoke/os/file.hpp"
#include "interop/format.hpp"
#include "interop/keras/model_reader.hpp"

namespace convoke::interop::keras {
namespace {

constexpr const char* kConfig = "config.json";
constexpr const char* kWeights = "model.weights.h5";

// "2.15.0" -> 2
int major_version(const std::string& version) {
  return version.starts_with("0.") || version.starts_with("1.") || version.starts_with("2.") ? 2 : 3;
}

/// The parts of a .keras file.
struct Archive {
  Json config, metadata;
  int version = 3;
  std::shared_ptr<const hdf5::File> weights;
};

Archive open_archive(const std::filesystem::path& file) {
  const archive::ZipFile zip(file);
  const std::string where = file.string();
  if (!zip.contains(kConfig)) {
    throw Error(fmt::format("{}: is a zip file, but no model of Keras: it has no {}", where, kConfig));
  }
  if (!zip.contains(kWeights)) {
    throw Error(fmt::format("{}: has no {}", where, kWeights),
                "weights in several files are not supported: save it with model.save(\"model.keras\")");
  }
  Archive parts{.config = parse_json(zip.text(kConfig, kMostJson), where + ": " + kConfig),
                .metadata = {},
                .weights = nullptr};
  if (zip.contains("metadata.json")) {
    parts.metadata = parse_json(zip.text("metadata.json", kMostJson), where + ": metadata.json");
    parts.version = major_version(text_of(member(parts.metadata, "keras_version")));
  }
  const std::string weights = where + ": " + kWeights;
  const auto stored = zip.open(kWeights);
  if (const auto offset = stored->offset_in_file()) {
    parts.weights = std::make_shared<const hdf5::File>(
        hdf5::File::open_part(os::File(file, os::Access::kRead), *offset, *stored->size(), weights));
    return parts;
  }
  // The file reads these bytes as long as it is open.
  struct Expanded {
    std::string bytes;
    hdf5::File file;
  };
  std::string bytes = zip.text(kWeights);
  const auto expanded = std::make_shared<Expanded>(
      Expanded{.bytes = {}, .file = hdf5::File::open_image(std::as_bytes(std::span(bytes)), weights)});
  expanded->bytes = std::move(bytes);
  parts.weights = std::shared_ptr<const hdf5::File>(expanded, &expanded->file);
  return parts;
}

// True if the file is HDF5 that opens and `test` holds.
template <class Test>
bool opens_with(const Probe& probe, Test test) {
  if (!probe.beginning.starts_with("\x89HDF\r\n")) return false;
  try {
    return test(hdf5::File::open(probe.file));
  } catch (const Error&) {
    return false;  // Convoke's own reader says what is wrong with it
  }
}

bool has_model(const hdf5::File& file) { return file.has_attribute("model_config"); }

}  // namespace

// PyTorch's files are zip files too.
bool is_keras(const Probe& probe) {
  if (!probe.beginning.starts_with("PK\x03\x04")) return false;
  if (probe.file.extension() == ".keras") return true;
  try {
    return archive::ZipFile(probe.file).contains(kConfig);
  } catch (const Error&) {
    return false;
  }
}

Imported read_keras(const std::filesystem::path& file, const ImportOptions& options) {
  const Archive archive = open_archive(file);
  const WeightSource weights = keras3_weights(archive.weights);
  return convert_model({.file = file.string(),
                        .model = archive.config,
                        .compile = member(archive.config, "compile_config"),
                        .weights = weights,
                        .keras_version = archive.version,
                        .facts = archive.metadata},
                       options);
}

run::InitialWeights read_keras_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                       const WeightOptions&) {
  const Archive archive = open_archive(file);
  const std::vector<StoredLayer> layers =
      layers_with_weights(archive.config, keras3_weights(archive.weights));
  return match_layers(layers, graph, file.string());
}

bool is_h5(const Probe& probe) { return opens_with(probe, has_model); }

Imported read_h5(const std::filesystem::path& file, const ImportOptions& options) {
  const auto opened = std::make_shared<const hdf5::File>(hdf5::File::open(file));
  const std::string where = file.string();
  const Json model = parse_json(opened->attribute<std::string>("model_config"), where + ": model_config");
  Json training;
  if (opened->has_attribute("training_config")) {
    training = parse_json(opened->attribute<std::string>("training_config"), where + ": training_config");
  }
  Json facts;
  for (const char* key : {"class_names", "normalization_scale", "normalization_shift", "loss", "classes"}) {
    if (opened->has_attribute(key)) facts[key] = parse_json(opened->attribute<std::string>(key), where);
  }
  for (const char* key : {"convoke_version", "channel_order", "output"}) {
    if (opened->has_attribute(key)) facts[key] = opened->attribute<std::string>(key);
  }
  std::string version = "2.";
  if (opened->has_attribute("keras_version")) version = opened->attribute<std::string>("keras_version");
  const WeightSource weights = legacy_weights(opened);
  return convert_model({.file = where,
                        .model = model,
                        .compile = training,
                        .weights = weights,
                        .keras_version = major_version(version),
                        .facts = facts},
                       options);
}

bool is_h5_weights(const Probe& probe) {
  return opens_with(probe, [](const hdf5::File& file) {
    return !has_model(file) && (file.has_attribute("layer_names") || file.has_attribute("layer_names0") ||
                                file.has_group("layers") || file.has_group("_layer_checkpoint_dependencies"));
  });
}

run::InitialWeights read_h5_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                    const WeightOptions&) {
  const auto opened = std::make_shared<const hdf5::File>(hdf5::File::open(file));
  return match_layers(stored_layers(opened), graph, file.string());
}

}  // namespace convoke::interop::keras

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

ModelSource open_archive(const std::filesystem::path& file) {
  const archive::ZipFile zip(file);
  const std::string where = file.string();
  if (!zip.contains(kConfig)) {
    throw Error(fmt::format("{}: is a zip file, but no model of Keras: it has no {}", where, kConfig));
  }
  if (!zip.contains(kWeights)) {
    throw Error(fmt::format("{}: has no {}", where, kWeights),
                "weights in several files are not supported: save it with model.save(\"model.keras\")");
  }
  ModelSource source{.file = where,
                     .model = parse_json(zip.text(kConfig, kMostJson), where + ": " + kConfig)};
  source.compile = member(source.model, "compile_config");
  if (zip.contains("metadata.json")) {
    source.facts = parse_json(zip.text("metadata.json", kMostJson), where + ": metadata.json");
    source.keras_version = major_version(text_of(member(source.facts, "keras_version")));
  }
  const std::string weights = where + ": " + kWeights;
  const auto stored = zip.open(kWeights);
  if (const auto offset = stored->offset_in_file()) {
    source.weights = keras3_weights(std::make_shared<const hdf5::File>(
        hdf5::File::open_part(os::File(file, os::Access::kRead), *offset, *stored->size(), weights)));
    return source;
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
  source.weights = keras3_weights(std::shared_ptr<const hdf5::File>(expanded, &expanded->file));
  return source;
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
  return convert_model(open_archive(file), options);
}

run::InitialWeights read_keras_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                       const WeightOptions&) {
  return match_layers(open_archive(file), graph);
}

bool is_h5(const Probe& probe) { return opens_with(probe, has_model); }

Imported read_h5(const std::filesystem::path& file, const ImportOptions& options) {
  const auto opened = std::make_shared<const hdf5::File>(hdf5::File::open(file));
  const std::string where = file.string();
  const auto text = [&](const char* key) { return opened->attribute<std::string>(key); };
  ModelSource source{.file = where,
                     .model = parse_json(text("model_config"), where + ": model_config"),
                     .weights = legacy_weights(opened)};
  if (opened->has_attribute("training_config")) {
    source.compile = parse_json(text("training_config"), where + ": training_config");
  }
  if (opened->has_attribute("convoke_version")) {  // attributes of others may have the same names
    for (const char* key : {"class_names", "normalization_scale", "normalization_shift", "loss", "classes"}) {
      if (opened->has_attribute(key)) source.facts[key] = parse_json(text(key), where);
    }
    for (const char* key : {"convoke_version", "channel_order", "samples", "input", "output"}) {
      if (opened->has_attribute(key)) source.facts[key] = text(key);
    }
  }
  source.keras_version = major_version(opened->has_attribute("keras_version") ? text("keras_version") : "2.");
  return convert_model(source, options);
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

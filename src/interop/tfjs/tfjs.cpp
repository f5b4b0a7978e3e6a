#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/file.hpp"
#include "interop/format.hpp"
#include "interop/keras/model_reader.hpp"

namespace convoke::interop::tfjs {
namespace {

using keras::Json;
using keras::member;
using keras::text_of;

/// Several files, one after the other.
class Shards {
 public:
  void append(const std::filesystem::path& file) {
    files_.emplace_back(file);
    ends_.push_back(size() + files_.back().open()->size());
  }
  std::uint64_t size() const { return ends_.empty() ? 0 : ends_.back(); }

  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
    for (std::size_t i = 0; i < files_.size() && !bytes.empty(); ++i) {
      if (offset >= ends_[i]) continue;
      const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
      const std::size_t count = std::min<std::uint64_t>(bytes.size(), ends_[i] - offset);
      files_[i].open()->read_at(offset - begin, bytes.first(count));
      offset += count;
      bytes = bytes.subspan(count);
    }
  }

 private:
  mutable std::deque<os::RecentFile> files_;
  std::vector<std::uint64_t> ends_;
};

/// How the numbers of a tensor are stored: value = scale * stored + min.
struct Stored {
  NumberType type = NumberType::kFloat32;
  double scale = 1, min = 0;
};

std::optional<Stored> stored_as(const Json& weight) {
  const Json& quantization = member(weight, "quantization");
  const std::string name = text_of(member(quantization.is_object() ? quantization : weight, "dtype"));
  const auto type = number_type(&NumberTypeFacts::name, name);
  if (!type) return std::nullopt;
  Stored stored{.type = *type};
  const Json& scale = member(quantization, "scale");
  const Json& min = member(quantization, "min");
  if (scale.is_number()) stored.scale = scale.get<double>();
  if (min.is_number()) stored.min = min.get<double>();
  return stored;
}

// Keeps within the folder of model.json: no absolute path, no "..".
std::filesystem::path beside(const std::filesystem::path& file, const Json& json) {
  const std::string text = text_of(json);
  const std::filesystem::path path(text);
  const bool leaves = text.empty() || path.is_absolute() || text.find('\\') != std::string::npos ||
                      text.find('\0') != std::string::npos ||
                      std::any_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
  if (leaves) {
    throw Error(fmt::format("{}: its weights are in \"{}\", which is not in its folder", file.string(),
                            shortened(one_line(text), 80)),
                "put the files of weights beside model.json");
  }
  return file.parent_path() / path;
}

Shape shape_of(const Json& json) {
  constexpr std::size_t kMostAxes = 8;
  std::vector<std::int64_t> extents;
  for (const Json& extent : json) {
    const bool good = extent.is_number_integer() && extents.size() < kMostAxes;
    extents.push_back(good ? extent.get<std::int64_t>() : -1);
  }
  return Shape(extents);
}

// Reads a tensor as fp32, piece by piece.
Tensor dequantized(std::string name, const Tensor& raw, const Stored& stored) {
  Tensor tensor{.name = std::move(name), .shape = raw.shape, .type = NumberType::kFloat32, .read = {}};
  tensor.read = [raw, stored](std::uint64_t offset, std::span<std::byte> bytes) {
    const std::uint64_t first = offset / sizeof(float);
    const auto count = static_cast<std::int64_t>(bytes.size() / sizeof(float));
    Tensor part = raw;
    part.shape = {count};
    part.read = [&raw, first](std::uint64_t at, std::span<std::byte> out) {
      raw.read(first * size_of(raw.type) + at, out);
    };
    std::vector<float> values = read_floats(part);
    for (float& value : values)
      value = static_cast<float>(stored.scale * static_cast<double>(value) + stored.min);
    std::memcpy(bytes.data(), values.data(), bytes.size());
  };
  return tensor;
}

/// The weights that a model.json names.
struct Manifest {
  std::vector<Tensor> tensors;
  std::set<std::string> converted;  ///< types of numbers other than fp32: "uint8"
};

void open_group(const std::filesystem::path& file, const Json& group, Manifest& manifest) {
  const auto shards = std::make_shared<Shards>();
  for (const Json& path : member(group, "paths")) shards->append(beside(file, path));
  std::uint64_t offset = 0;
  for (const Json& weight : member(group, "weights")) {
    const std::string name = text_of(member(weight, "name"));
    const std::optional<Stored> stored = stored_as(weight);
    if (!stored || !member(weight, "shape").is_array()) {
      throw Error(fmt::format("{}: the weight \"{}\" holds no numbers of a known type", file.string(),
                              shortened(one_line(name), 80)),
                  fmt::format("known: {}", join(names_in(kNumberTypes))));
    }
    Tensor raw{.name = name, .shape = shape_of(member(weight, "shape")), .type = stored->type, .read = {}};
    const std::uint64_t bytes = raw.bytes();
    if (bytes > shards->size() - offset) {
      throw Error(fmt::format("{}: its files of weights end before \"{}\" does", file.string(),
                              shortened(one_line(name), 80)),
                  "a file is truncated or missing: get all of them again");
    }
    raw.read = [shards, offset](std::uint64_t at, std::span<std::byte> out) {
      shards->read_at(offset + at, out);
    };
    offset += bytes;
    if (text_of(member(weight, "group")) == "optimizer") continue;
    if (stored->type != NumberType::kFloat32) manifest.converted.emplace(name_of(stored->type));
    const bool plain = stored->scale == 1 && stored->min == 0;
    manifest.tensors.push_back(plain ? raw : dequantized(name, raw, *stored));
  }
  if (offset != shards->size()) {
    throw Error(fmt::format("{}: its files of weights have {} bytes, but it names weights of {}",
                            file.string(), shards->size(), offset),
                "the files belong to another model: get all of them again");
  }
}

/// Opens the files of a "weightsManifest" beside `file`: groups of binary files, and the tensors that lie one
/// after the other in their bytes. Throws Error naming `file` for a path that leaves its folder, a type that
/// is no number, and bytes that are too few or too many.
Manifest open_manifest(const std::filesystem::path& file, const Json& groups) {
  if (!groups.is_array() || groups.empty()) {
    throw Error(fmt::format("{}: names no weights (\"weightsManifest\")", file.string()));
  }
  Manifest manifest;
  for (const Json& group : groups) open_group(file, group, manifest);
  return manifest;
}

keras::ModelSource open_model(const std::filesystem::path& file) {
  const os::File opened(file, os::Access::kRead);
  const std::string where = file.string();
  if (opened.size() > keras::kMostJson) {
    throw Error(fmt::format("{}: has {}, more than the description of any model", where,
                            format_bytes(opened.size())));
  }
  const Json json = keras::parse_json(opened.text(), where);
  const Json& topology = member(json, "modelTopology");
  if (member(json, "format") == Json("graph-model") || topology.contains("node")) {
    throw Error(
        fmt::format("{}: is a graph-model, a program rather than a list of layers", where),
        "take the model as layers-model or .keras, or convert its TensorFlow original to ONNX: python "
        "-m tf2onnx.convert --saved-model FOLDER --output model.onnx");
  }
  const Json& config = member(topology, "model_config");
  keras::ModelSource source{.file = where,
                            .model = config.is_string() ? keras::parse_json(config.get<std::string>(), where)
                                     : config.is_object() ? config
                                                          : topology,
                            .compile = member(topology, "training_config")};
  const std::string version = text_of(member(topology, "keras_version"));
  source.keras_version = version.starts_with("3.") ? 3 : 2;
  source.made_in_tfjs = version.starts_with("tfjs-layers");
  Manifest manifest = open_manifest(file, member(json, "weightsManifest"));
  source.weights = keras::named_weights(std::move(manifest.tensors));
  for (const std::string& type : manifest.converted) {
    source.notes.push_back(fmt::format("weights of {} were converted to float32", type));
  }
  return source;
}

}  // namespace

bool is_tfjs(const Probe& probe) {
  const std::size_t first = probe.beginning.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || probe.beginning[first] != '{') return false;
  const os::File file(probe.file, os::Access::kRead);
  return file.size() <= keras::kMostJson && file.text().find("\"modelTopology\"") != std::string::npos;
}

Imported read_tfjs(const std::filesystem::path& file, const ImportOptions& options) {
  return keras::convert_model(open_model(file), options);
}

run::InitialWeights read_tfjs_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                      const WeightOptions&) {
  return keras::match_layers(open_model(file), graph);
}

}  // namespace convoke::interop::tfjs

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/engine/canonical.hpp"
#include "convoke/os/atomic_file.hpp"
#include "interop/format.hpp"
#include "interop/keras/config.hpp"
#include "interop/safetensors/names.hpp"

namespace convoke::interop {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMostHeaderBytes = 100'000'000;  // the limit of the format
const std::string kSafetensorsHint = "get the file again, or write it again with safetensors.torch.save_file";

std::uint64_t length_in(std::string_view beginning) {
  std::uint64_t length = 0;
  std::memcpy(&length, beginning.data(), kLengthBytes);
  return length;
}

nlohmann::json read_table(const os::File& file, std::uint64_t& data_start) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("{}: {}", file.path().string(), why), kSafetensorsHint);
  };
  std::array<char, kLengthBytes> beginning{};
  file.read_at(0, std::as_writable_bytes(std::span(beginning)));
  const std::uint64_t length = length_in({beginning.data(), beginning.size()});
  if (length > kMostHeaderBytes || length > file.size() - kLengthBytes) {
    refuse(fmt::format("its table of tensors would have {} bytes, but the file has {}", length, file.size()));
  }
  std::string text(length, '\0');
  file.read_at(kLengthBytes, std::as_writable_bytes(std::span(text)));
  data_start = kLengthBytes + length;
  // Three levels are enough; a parser that is stopped there needs no stack for a hostile file.
  const auto shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > 3)
      throw nlohmann::json::parse_error::create(101, std::size_t{0}, "nested too deeply", nullptr);
    return true;
  };
  try {
    nlohmann::json table = nlohmann::json::parse(text, shallow);
    if (table.is_object()) return table;
  } catch (const nlohmann::json::exception&) {  // reported below, without the parser's words
  }
  refuse("its table of tensors is not JSON");
  return {};
}

Tensor tensor_at(const std::shared_ptr<const os::File>& file, std::uint64_t data_start,
                 const std::string& name, const nlohmann::json& entry) {
  const std::string where = fmt::format("{}: tensor {}", file->path().string(), name);
  try {
    const auto& dtype = entry.at("dtype").get_ref<const std::string&>();
    const auto type = number_type(&NumberTypeFacts::safetensors, dtype);
    if (!type) {
      throw Error(fmt::format("{}: has numbers of type {}, which Convoke does not read", where, dtype),
                  "convert it: tensor.float(), then safetensors.torch.save_file");
    }
    const auto offsets = entry.at("data_offsets").get<std::array<std::uint64_t, 2>>();
    const std::uint64_t bytes = file->size() - data_start;
    Tensor tensor{.name = name,
                  .shape = Shape(entry.at("shape").get<std::vector<std::int64_t>>()),
                  .type = *type,
                  .read = {}};
    if (offsets[0] > offsets[1] || offsets[1] > bytes || tensor.bytes() != offsets[1] - offsets[0]) {
      throw Error(fmt::format("{}: {} of {} does not fit bytes {} to {} of {}", where,
                              tensor.shape.to_string(), dtype, offsets[0], offsets[1], bytes),
                  kSafetensorsHint);
    }
    return tensor_in_file(name, tensor.shape, tensor.type, file, data_start + offsets[0]);
  } catch (const nlohmann::json::exception&) {
    throw Error(where + ": its entry lacks dtype, shape or data_offsets", kSafetensorsHint);
  }
}

void require_apart(const std::vector<std::pair<std::uint64_t, Tensor>>& tensors, const std::string& file) {
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    const auto& [before, first] = tensors[i - 1];
    if (before + first.bytes() <= tensors[i].first) continue;
    throw Error(fmt::format("{}: tensors {} and {} overlap", file, first.name, tensors[i].second.name),
                kSafetensorsHint);
  }
}

// (C, 1, 1) of a layer scale and (out, in, 1, 1) of a 1 x 1 convolution fit (C) and (out, in).
Shape without_ones(const Shape& shape) {
  std::vector<std::int64_t> extents;
  std::copy_if(shape.extents().begin(), shape.extents().end(), std::back_inserter(extents),
               [](std::int64_t extent) { return extent != 1; });
  return Shape(std::move(extents));
}

// Returns the tensors of a file. Throws Error naming the file if its table is damaged, or tensors overlap or
// lie outside the file.
std::vector<Tensor> read_safetensors(const std::filesystem::path& path) {
  const auto file = std::make_shared<const os::File>(path, os::Access::kRead);
  std::uint64_t data_start = 0;
  const nlohmann::json table = read_table(*file, data_start);
  std::vector<std::pair<std::uint64_t, Tensor>> placed;
  for (const auto& [name, entry] : table.items()) {
    if (name == "__metadata__") continue;
    Tensor tensor = tensor_at(file, data_start, name, entry);
    placed.emplace_back(entry.at("data_offsets").at(0).get<std::uint64_t>(), std::move(tensor));
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  require_apart(placed, path.string());
  std::vector<Tensor> tensors;
  for (auto& [offset, tensor] : placed) tensors.push_back(std::move(tensor));
  return tensors;
}

// True for the index of a model whose tensors are divided among files, as Hugging Face writes it:
// model.safetensors.index.json, {"weight_map": {tensor: file}}.
bool is_shard_index(const Probe& probe) {
  const bool named = probe.file.string().ends_with(".index.json");
  return probe.beginning.starts_with('{') &&
         (named || probe.beginning.find("\"weight_map\"") != std::string::npos);
}

using Names = std::set<std::string>;

// The tensors of each file.
std::map<std::string, Names> names_by_file(const std::filesystem::path& index) {
  const os::File file(index, os::Access::kRead);
  if (file.size() > keras::kMostJson) {
    throw Error(fmt::format("{}: has {}, more than any index", index.string(), format_bytes(file.size())));
  }
  const keras::Json json = keras::parse_json(file.text(), index.string());
  const keras::Json& map = keras::member(json, "weight_map");
  std::map<std::string, Names> files;
  for (const auto& [tensor, place] : map.items()) {
    const std::string name = keras::text_of(place);
    if (name.empty() || name != std::filesystem::path(name).filename() || name == "..") {
      throw Error(fmt::format("{}: places tensor {} in \"{}\", which is no file beside it", index.string(),
                              shortened(one_line(tensor), 80), shortened(one_line(place.dump()), 80)),
                  "get the index and its files again, into one folder");
    }
    files[name].insert(tensor);
  }
  return files;
}

// Returns the tensors that the index lists, from the files beside it. Throws Error naming the file if one is
// missing, lacks a tensor, or lies elsewhere.
std::vector<Tensor> read_shards(const std::filesystem::path& index) {
  std::vector<Tensor> tensors;
  for (const auto& [name, wanted] : names_by_file(index)) {
    const std::filesystem::path file = index.parent_path() / name;
    const Probe probe = probe_of(file);
    if (!is_safetensors(probe) || is_shard_index(probe)) {
      throw Error(fmt::format("{}: its file {} is no safetensors file", index.string(), file.string()),
                  "load the model where you trust it and save it again, in Python: "
                  "model.save_pretrained(FOLDER, safe_serialization=True)");
    }
    Names missing = wanted;
    for (Tensor& tensor : read_safetensors(file)) {
      if (missing.erase(tensor.name) > 0) tensors.push_back(std::move(tensor));
    }
    if (missing.empty()) continue;
    throw Error(fmt::format("{}: lacks tensor {}, which {} places in it", file.string(),
                            shortened(one_line(*missing.begin()), 80), index.filename().string()),
                "get the files again, into one folder");
  }
  return tensors;
}

}  // namespace

bool is_safetensors(const Probe& probe) {
  const std::string& start = probe.beginning;
  if (is_shard_index(probe)) return true;
  return start.size() > kLengthBytes && start[kLengthBytes] == '{' && length_in(start) <= kMostHeaderBytes;
}

run::InitialWeights read_safetensors_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                             const WeightOptions& options) {
  const std::vector<Tensor> tensors =
      is_shard_index(probe_of(file)) ? read_shards(file) : read_safetensors(file);
  std::vector<std::string> names;
  std::map<std::string, const Tensor*, std::less<>> by_name;
  for (const Tensor& tensor : tensors) {
    names.push_back(tensor.name);
    by_name.emplace(tensor.name, &tensor);
  }
  const std::vector<Naming> namings = state_dict_names(graph);
  const auto [naming, prefix] = find_names(namings, names, options.prefix, file.string());
  run::WeightMatch match(graph);
  match.prefix(prefix);
  const std::vector<engine::CanonicalParameter>& parameters = match.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto found = by_name.find(prefix + naming->entries[i].name);
    if (found == by_name.end()) continue;
    const Tensor& tensor = *found->second;
    const auto& [name, shape, groups] = naming->entries[i];
    if (without_ones(tensor.shape) == without_ones(shape)) {
      const std::span<float> values = match.take(i);
      read_floats(tensor, values);
      if (groups > 0) std::ranges::copy(swap_channels(values, shape, groups), values.begin());
      if (tensor.type != NumberType::kFloat32) match.converted(name_of(tensor.type));
    } else {
      match.misfit(i, tensor.shape, shape);
    }
    by_name.erase(found);
  }
  for (const auto& [name, tensor] : by_name) {
    const bool chosen = !options.prefix || name.starts_with(prefix);  // else the user has left it out
    if (chosen && !name.ends_with("num_batches_tracked")) match.unused(name);
  }
  return std::move(match).finish(file.string());
}

std::vector<std::filesystem::path> write_safetensors(const std::filesystem::path& path,
                                                     const run::ModelSet& models, const ExportOptions&) {
  if (models.members.size() != 1) {
    throw Error(fmt::format("{}: holds the weights of one network, but there are {} members", path.string(),
                            models.members.size()),
                "add --each-member, which writes a file for each");
  }
  const std::vector<engine::CanonicalParameter> parameters =
      engine::canonical_parameters(models.description.graph);
  const Naming naming = state_dict_names(models.description.graph).front();
  const std::span<const float> values(models.members.front().parameters);
  constexpr std::string_view kRunningMean = ".running_mean";
  constexpr std::size_t kAlignment = 8;  // of the numbers, as the format's own library writes

  nlohmann::ordered_json table{{"__metadata__", {{"format", "pt"}, {"producer", "convoke"}}}};
  std::uint64_t end = 0;
  const auto add = [&](const std::string& name, const char* type, const Shape& shape, std::uint64_t bytes) {
    table[name] = {{"dtype", type}, {"shape", shape.extents()}, {"data_offsets", {end, end + bytes}}};
    end += bytes;
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    add(naming.entries[i].name, "F32", naming.entries[i].shape, parameters[i].size() * sizeof(float));
  }
  // A batch norm of PyTorch also counts its steps: load_state_dict(strict=True) wants it.
  std::vector<std::int64_t> steps;
  for (const auto& [name, shape, groups] : naming.entries) {
    if (!name.ends_with(kRunningMean)) continue;
    add(name.substr(0, name.size() - kRunningMean.size()) + ".num_batches_tracked", "I64", {},
        sizeof(std::int64_t));
    steps.push_back(0);
  }
  std::string text = table.dump();
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  const std::uint64_t length = text.size();
  os::replace_file(path, [&](const std::filesystem::path& temporary) {
    os::File file(temporary, os::Access::kWrite);
    const std::uint64_t data_start = kLengthBytes + length;
    file.write_at(0, std::as_bytes(std::span(&length, 1)));
    file.write_at(kLengthBytes, std::as_bytes(std::span(text)));
    file.write_at(data_start, std::as_bytes(values));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const engine::CanonicalParameter& own = parameters[i];
      const std::int64_t groups = naming.entries[i].groups;
      if (groups == 0) continue;
      const std::vector<float> swapped =
          swap_channels(values.subspan(own.offset, own.size()), own.shape, groups);
      file.write_at(data_start + own.offset * sizeof(float), std::as_bytes(std::span(swapped)));
    }
    file.write_at(data_start + values.size_bytes(), std::as_bytes(std::span(steps)));
    file.close();
  });
  return {path};
}

}  // namespace convoke::interop

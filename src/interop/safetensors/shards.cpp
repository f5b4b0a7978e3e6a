#include "interop/safetensors/shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "interop/keras/config.hpp"
#include "interop/safetensors/safetensors.hpp"

namespace convoke::interop {
namespace {

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

}  // namespace

bool is_shard_index(const Probe& probe) {
  const bool named = probe.file.string().ends_with(".index.json");
  return probe.beginning.starts_with('{') &&
         (named || probe.beginning.find("\"weight_map\"") != std::string::npos);
}

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

}  // namespace convoke::interop

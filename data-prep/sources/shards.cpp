#include "sources/shards.hpp"

#include <algorithm>
#include <cctype>

#include "convoke/data_prep/sources/source.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

std::string split_in_name(const std::string& name) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  auto at = name.begin();
  while (at != name.end()) {
    const auto begin = std::find_if(at, name.end(), letter);
    at = std::find_if_not(begin, name.end(), letter);
    const std::string split = canonical_split(std::string(begin, at));
    if (is_usual_split(split)) return split;
  }
  return {};
}

}  // namespace

std::string split_in_path(const fs::path& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : path) parts.push_back(part.string());
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (std::string split = split_in_name(*part); !split.empty()) return split;
  }
  return {};
}

std::vector<Shard> find_shards(const fs::path& path, bool (*is_one)(const fs::path&)) {
  std::vector<Shard> shards;
  if (!fs::is_directory(path)) {
    shards.push_back({path, path.filename().string(), split_in_path(path.filename())});
    return shards;
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_directory() || !is_one(entry.path())) continue;
    const fs::path below = entry.path().lexically_relative(path);
    shards.push_back({entry.path(), below.string(), split_in_path(below)});
  }
  std::sort(shards.begin(), shards.end(), [](const Shard& a, const Shard& b) { return a.name < b.name; });
  return shards;
}

bool has_shard(const fs::path& path, bool (*is_one)(const fs::path&)) {
  if (!fs::is_directory(path)) return fs::is_regular_file(path) && is_one(path);
  return std::any_of(
      fs::recursive_directory_iterator(path), fs::recursive_directory_iterator(),
      [&](const fs::directory_entry& entry) { return entry.is_regular_file() && is_one(entry.path()); });
}

}  // namespace convoke::data_prep

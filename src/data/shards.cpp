#include "convoke/data/shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::data {
namespace {

namespace fs = std::filesystem;

/// The parts of a shard's file name.
struct ShardName {
  std::string split;
  std::int64_t shard = 0, shards = 0;
};

// Parses at least five digits.
std::optional<std::int64_t> number_in(std::string_view digits) {
  const std::optional<std::int64_t> value = parse_number<std::int64_t>(digits);
  return digits.size() >= 5 && value.value_or(-1) >= 0 ? value : std::nullopt;
}

std::optional<ShardName> parse(const std::string& name) {
  constexpr std::string_view kEnding = ".h5", kOf = "-of-";
  if (!name.ends_with(kEnding)) return {};
  const std::string_view stem = std::string_view(name).substr(0, name.size() - kEnding.size());
  const std::size_t of = stem.rfind(kOf);
  if (of == std::string_view::npos || of == 0) return {};
  const std::size_t dash = stem.rfind('-', of - 1);
  if (dash == std::string_view::npos || dash == 0) return {};
  const auto shard = number_in(stem.substr(dash + 1, of - dash - 1));
  const auto shards = number_in(stem.substr(of + kOf.size()));
  if (!shard || !shards) return {};
  return ShardName{std::string(stem.substr(0, dash)), *shard, *shards};
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    files.push_back(it->path());
  }
  if (error) throw Error(fmt::format("{}: cannot be listed: {}", folder.string(), error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string shard_name(const std::string& split, std::int64_t shard, std::int64_t shards) {
  return fmt::format("{}-{:05}-of-{:05}.h5", split, shard, shards);
}

std::int64_t first_of_shard(std::int64_t samples, std::int64_t shard, std::int64_t shards) {
  const std::int64_t each = samples / shards, more = samples % shards;
  return shard * each + std::min(shard, more);
}

std::vector<SplitSize> in_shards(std::vector<SplitSize> splits, std::int64_t shards) {
  assert(shards > 0);
  std::int64_t largest = 1;
  for (const SplitSize& split : splits) largest = std::max(largest, split.samples);
  const std::int64_t size = (largest + shards - 1) / shards;  // samples in a shard
  for (SplitSize& split : splits) {
    const bool is_largest = split.samples == largest;
    split.shards =
        is_largest ? std::min(shards, largest) : std::max<std::int64_t>(1, (split.samples + size - 1) / size);
  }
  return splits;
}

std::map<std::string, std::vector<fs::path>> shards_in(const fs::path& folder) {
  std::vector<std::pair<ShardName, fs::path>> found;
  for (const fs::path& file : files_in(folder)) {
    if (const auto name = parse(file.filename().string())) found.emplace_back(*name, file);
  }
  if (found.empty()) {
    const std::string name = shell_word(folder.string());
    throw Error(fmt::format("{}: is a folder without dataset shards ({}, ...)", folder.string(),
                            shard_name("train", 0, 16)),
                fs::exists(folder / "recipe.toml")
                    ? fmt::format("it is the folder of a run: `convoke report {}` shows it", name)
                    : fmt::format("make a dataset from it with `convoke prepare {} --output FILE`", name));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.split, a.first.shards, a.first.shard) <
           std::tie(b.first.split, b.first.shards, b.first.shard);
  });

  std::map<std::string, std::vector<fs::path>> splits;
  ShardName last = found.front().first;  // the last shard seen of the current split
  const auto require = [&](std::int64_t shard) {
    if (static_cast<std::int64_t>(splits[last.split].size()) == shard) return;
    const auto missing = static_cast<std::int64_t>(splits[last.split].size());
    throw Error(fmt::format("{}: no such file, but split \"{}\" has {} shards",
                            (folder / shard_name(last.split, missing, last.shards)).string(), last.split,
                            last.shards),
                "copy the whole folder again, or prepare the data again");
  };
  for (const auto& [name, file] : found) {
    if (name.split != last.split) {
      require(last.shards);
      last = name;
    }
    if (name.shards != last.shards || name.shard >= name.shards) {
      throw Error(fmt::format("{}: does not belong to the {} shards of split \"{}\" in this folder",
                              file.string(), last.shards, name.split),
                  "the folder holds shards of several datasets: put each dataset into its own folder");
    }
    require(name.shard);
    splits[name.split].push_back(file);
  }
  require(last.shards);
  return splits;
}

bool is_shard_name(const std::string& file_name) { return parse(file_name).has_value(); }

bool has_shards(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return false;
  const std::vector<fs::path> files = files_in(path);
  return std::any_of(files.begin(), files.end(),
                     [](const fs::path& file) { return is_shard_name(file.filename().string()); });
}

}  // namespace convoke::data

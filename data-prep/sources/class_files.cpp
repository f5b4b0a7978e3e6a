#include "sources/class_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/text_encoding.hpp"
#include "convoke/data_prep/files/names.hpp"
#include "convoke/data_prep/sources/source.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> listed(const fs::path& folder, const PathTest& wanted) {
  const std::vector<fs::directory_entry> entries = entries_of(folder, wanted);
  return {entries.begin(), entries.end()};
}

std::vector<fs::path> class_folders(const fs::path& folder, const PathTest& is_class) {
  return listed(folder, [&](const fs::path& path) { return fs::is_directory(path) && is_class(path); });
}

// Returns the folders of splits in `folder`, which have class folders; or `folder` itself.
std::vector<SplitFolder> split_folders(const fs::path& folder, const PathTest& is_class) {
  std::vector<SplitFolder> splits;
  for (const fs::path& path : listed(folder, [](const fs::path& sub) { return fs::is_directory(sub); })) {
    const std::string split = canonical_split(path.filename().string());
    if (is_usual_split(split) && !class_folders(path, is_class).empty()) splits.push_back({split, path});
  }
  if (splits.empty()) splits.push_back({"", folder});
  return splits;
}

std::vector<std::string> names_of(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const fs::path& folder : folders) {
    names.push_back(decoded_text(folder.filename().string()));
    if (seen.insert(names.back()).second) continue;
    throw Error(fmt::format("{}: another class folder has the name \"{}\", too, in another encoding",
                            printable(folder.native()), names.back()),
                kTwinsHint);
  }
  return names;
}

}  // namespace

std::vector<fs::directory_entry> entries_of(const fs::path& folder, const PathTest& wanted) {
  std::vector<fs::directory_entry> entries;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (!is_hidden(entry.path()) && (!wanted || wanted(entry.path()))) entries.push_back(entry);
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("{}: cannot be listed: {}", folder.string(), error.code().message()));
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.path().native() < b.path().native(); });
  return entries;
}

void require_different_splits(const std::vector<SplitFolder>& folders) {
  std::map<std::string, fs::path> seen;
  for (const auto& [split, folder] : folders) {
    const auto [before, is_new] = seen.emplace(split, folder);
    if (is_new) continue;
    throw Error(fmt::format("{} and {}: are both folders of the split {}", before->second.string(),
                            folder.string(), split));
  }
}

bool has_class_files(const fs::path& path, const PathTest& is_class) {
  return fs::is_directory(path) &&
         !class_folders(split_folders(path, is_class).front().folder, is_class).empty();
}

ClassFiles list_class_files(const fs::path& folder, const PathTest& is_class, const PathTest& is_sample,
                            const std::string& samples, const std::string& hint) {
  ClassFiles list{.class_names = {}, .splits = split_folders(folder, is_class), .files = {}};
  require_different_splits(list.splits);
  for (const auto& [split, split_folder] : list.splits) {
    const std::vector<fs::path> folders = class_folders(split_folder, is_class);
    const std::vector<std::string> names = names_of(folders);
    if (list.class_names.empty()) list.class_names = names;
    std::vector<std::string> all = names;
    if (names != list.class_names) all.insert(all.end(), list.class_names.begin(), list.class_names.end());
    if (const auto twins = find_twins(all))
      throw Error(fmt::format("{}: the class folders {}", folder.string(), twins_text(*twins)), kTwinsHint);
    if (names != list.class_names) {
      throw Error(fmt::format("{} has the classes {}, but {} has {}", list.splits.front().folder.string(),
                              listing(list.class_names), split_folder.string(), listing(names)),
                  "every class needs a folder in every split");
    }
    for (std::size_t label = 0; label < folders.size(); ++label) {
      for (const fs::path& file : listed(folders[label], is_sample)) {
        list.files.push_back({.file = file,
                              .name = file.lexically_relative(folder).string(),
                              .split = split,
                              .label = static_cast<std::int32_t>(label)});
      }
    }
  }
  if (list.class_names.size() < 2) {
    throw Error(fmt::format("{}: has {} of {} classes", folder.string(), samples, list.class_names.size()),
                hint);
  }
  return list;
}

}  // namespace convoke::data_prep

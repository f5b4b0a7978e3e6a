#include "convoke/data_prep/sources/text_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/sources/text_source.hpp"
#include "convoke/data_prep/text/words.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

bool is_text(const fs::path& file) { return file.extension() == ".txt" && fs::is_regular_file(file); }

// Returns the entries of a folder for which `wanted` is true, sorted by the bytes of their names.
template <class Wanted>
std::vector<fs::path> listed(const fs::path& folder, const Wanted& wanted) {
  std::vector<fs::path> found;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (wanted(entry.path())) found.push_back(entry.path());
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("{}: cannot be listed: {}", folder.string(), error.code().message()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool holds_texts(const fs::path& path) {
  if (!fs::is_directory(path)) return false;
  std::error_code ignored;
  return std::any_of(fs::directory_iterator(path, ignored), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) { return is_text(entry.path()); });
}

bool is_unlabelled(const fs::path& folder) { return folder.filename() == "unsup"; }  // in aclImdb

// Returns the class folders in `folder`.
std::vector<fs::path> class_folders(const fs::path& folder) {
  return listed(folder, [](const fs::path& path) { return holds_texts(path) && !is_unlabelled(path); });
}

std::vector<std::string> names_of(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) names.push_back(folder.filename().string());
  return names;
}

// Returns the split folders in `folder`, which have class folders; or `folder` itself.
std::vector<fs::path> text_split_folders(const fs::path& folder) {
  std::vector<fs::path> splits = listed(folder, [](const fs::path& path) {
    const std::string split = canonical_split(path.filename().string());
    return (split == "train" || split == "validation" || split == "test") && fs::is_directory(path) &&
           !class_folders(path).empty();
  });
  if (splits.empty()) splits.push_back(folder);
  return splits;
}

std::string text_of(const fs::path& file) {
  if (std::optional<std::string> text = read_text(file)) return *std::move(text);
  throw Error(fmt::format("{}: cannot be read", file.string()));
}

void require_same_classes(const fs::path& first, const fs::path& other) {
  const std::vector<std::string> expected = names_of(class_folders(first));
  const std::vector<std::string> found = names_of(class_folders(other));
  if (found == expected) return;
  throw Error(fmt::format("{} has the classes {}, but {} has {}", first.string(), join(expected),
                          other.string(), join(found)),
              "every class needs a folder in every split");
}

}  // namespace

bool is_text_folder(const fs::path& path) {
  if (!fs::is_directory(path)) return false;
  const std::vector<fs::path> splits = text_split_folders(path);
  return splits.front() != path || !class_folders(path).empty();
}

std::unique_ptr<Source> open_text_folder(const fs::path& folder, const SourceOptions& options) {
  const std::vector<fs::path> splits = text_split_folders(folder);
  Catalogue catalogue;
  std::vector<fs::path> files;
  for (const fs::path& split : splits) {
    require_same_classes(splits.front(), split);
    const std::string split_name = split == folder ? "" : canonical_split(split.filename().string());
    std::int32_t label = 0;
    for (const fs::path& class_folder : class_folders(split)) {
      for (const fs::path& file : listed(class_folder, is_text)) {
        catalogue.items.push_back(
            {.name = file.lexically_relative(folder).string(), .split = split_name, .label = label});
        if (fs::file_size(file) == 0) catalogue.items.back().fault = "has no text";
        files.push_back(file);
      }
      ++label;
    }
    if (const fs::path unlabelled = split / "unsup"; fs::is_directory(unlabelled)) {
      catalogue.notes.push_back(fmt::format("{} is left out: its texts have no labels", unlabelled.string()));
    }
  }
  catalogue.class_names = names_of(class_folders(splits.front()));
  catalogue.classes = static_cast<std::int64_t>(catalogue.class_names.size());
  if (catalogue.classes < 2) {
    throw Error(fmt::format("{}: has texts of {} classes", folder.string(), catalogue.classes),
                "a dataset needs at least 2 classes, each a folder of .txt files: pos/, neg/");
  }
  if (!options.class_names.empty()) catalogue.class_names = options.class_names;
  catalogue.provenance = fmt::format("text files of {}", folder.string());
  return make_text_source(std::move(catalogue), options.text, "",
                          [files = std::move(files)](std::size_t item) { return text_of(files[item]); });
}

}  // namespace convoke::data_prep

#include "convoke/data_prep/sources/text_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/sources/text_source.hpp"
#include "sources/class_files.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

bool is_text(const fs::path& file) { return file.extension() == ".txt" && fs::is_regular_file(file); }

// True for a folder with texts. `unsup`, in aclImdb, has texts without labels.
bool holds_texts(const fs::path& folder) {
  std::error_code ignored;
  return folder.filename() != "unsup" &&
         std::any_of(fs::directory_iterator(folder, ignored), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) { return is_text(entry.path()); });
}

std::string text_of(const fs::path& file) {
  if (std::optional<std::string> text = read_text(file)) return *std::move(text);
  throw Error(fmt::format("{}: cannot be read", file.string()));
}

}  // namespace

bool is_text_folder(const fs::path& path) { return has_class_files(path, holds_texts); }

std::unique_ptr<Source> open_text_folder(const fs::path& folder, const SourceOptions& options) {
  ClassFiles list =
      list_class_files(folder, holds_texts, is_text, "texts",
                       "a dataset needs at least 2 classes, each a folder of .txt files: pos/, neg/");
  Catalogue catalogue;
  for (const ClassFile& file : list.files) {
    catalogue.items.push_back({.name = file.name, .split = file.split, .label = file.label});
    if (fs::file_size(file.file) == 0) catalogue.items.back().fault = "has no text";
  }
  for (const fs::path& split : list.splits) {
    if (const fs::path unlabelled = split / "unsup"; fs::is_directory(unlabelled)) {
      catalogue.notes.push_back(fmt::format("{} is left out: its texts have no labels", unlabelled.string()));
    }
  }
  catalogue.classes = static_cast<std::int64_t>(list.class_names.size());
  catalogue.class_names = options.class_names.empty() ? list.class_names : options.class_names;
  catalogue.provenance = fmt::format("text files of {}", folder.string());
  return make_text_source(
      std::move(catalogue), options.text, "",
      [files = std::move(list.files)](std::size_t item) { return text_of(files[item].file); });
}

}  // namespace convoke::data_prep

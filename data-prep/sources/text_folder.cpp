#include "convoke/data_prep/sources/text_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/text_encoding.hpp"
#include "convoke/data_prep/files/picture_names.hpp"
#include "convoke/data_prep/sources/text_source.hpp"
#include "convoke/os/file.hpp"
#include "sources/class_files.hpp"
#include "sources/labels.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

bool is_text(const fs::path& file) {
  return lower_case(file.extension().string()) == ".txt" && !is_hidden(file) && !fs::is_directory(file);
}

// True for a folder with texts. `unsup`, in aclImdb, has texts without labels.
bool holds_texts(const fs::path& folder) {
  std::error_code ignored;
  return folder.filename() != "unsup" &&
         std::any_of(fs::directory_iterator(folder, ignored), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) { return is_text(entry.path()); });
}

std::string text_of(const fs::path& file, const std::string& encoding) {
  if (!fs::exists(file)) throw Error(fmt::format("{}: cannot be read", file.string()));
  return decoded_file(os::File(file, os::Access::kRead).text(), encoding, file.string());
}

// Returns why a file cannot be a sample; empty if it can.
std::string fault_of(const fs::path& file) {
  if (const std::string special = os::special_kind(file); !special.empty())
    return fmt::format("is {}, not a file", special);
  std::error_code missing;
  return fs::file_size(file, missing) == 0 ? "has no text" : "";
}

// Says how the texts are encoded, by a part of them.
Assumption assumed_encoding(const std::vector<ClassFile>& files, const std::string& given) {
  constexpr std::size_t kLookedAt = 500;
  if (!given.empty()) return {"encoding", given, "as the option says", "--encoding"};
  std::map<std::string, std::size_t> counts;
  const std::size_t step = std::max<std::size_t>(1, files.size() / kLookedAt);
  std::size_t read = 0;
  for (std::size_t i = 0; i < files.size(); i += step, ++read) {
    EncodingDetector detector;
    if (!os::special_kind(files[i].file).empty()) continue;
    detector.feed(read_text(files[i].file).value_or(""));
    ++counts[name_of(detector.encoding())];
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts)
    parts.push_back(counts.size() == 1 ? name : fmt::format("{} in {}", name, counted(count, "file")));
  return {.what = "encoding",
          .taken = join(parts),
          .why = fmt::format("of each file by its bytes; {} looked at", counted(read, "file")),
          .option = "--encoding",
          .doubtful = counts.count(name_of(TextEncoding::kWindows1252)) > 0};
}

}  // namespace

bool is_text_folder(const fs::path& path) { return has_class_files(path, holds_texts); }

std::unique_ptr<Source> open_text_folder(const fs::path& folder, const SourceOptions& options) {
  ClassFiles list =
      list_class_files(folder, holds_texts, is_text, "texts",
                       "a dataset needs at least 2 classes, each a folder of .txt files: pos/, neg/");
  Catalog catalog;
  for (const ClassFile& file : list.files) {
    catalog.items.push_back(
        {.name = file.name, .split = file.split, .label = file.label, .fault = fault_of(file.file)});
  }
  for (const fs::path& split : list.splits) {
    if (const fs::path unlabeled = split / "unsup"; fs::is_directory(unlabeled)) {
      catalog.notes.push_back(fmt::format("{} is left out: its texts have no labels", unlabeled.string()));
    }
  }
  catalog.classes = static_cast<std::int64_t>(list.class_names.size());
  catalog.class_names = list.class_names;
  rename_classes(catalog, options.class_names, folder.string());
  catalog.assumptions.push_back(assumed_encoding(list.files, options.reading.encoding));
  catalog.provenance = fmt::format("text files of {}", folder.string());
  return make_text_source(std::move(catalog), options.text, options.reading, "",
                          [files = std::move(list.files), encoding = options.reading.encoding](
                              std::size_t item) { return text_of(files[item].file, encoding); });
}

}  // namespace convoke::data_prep

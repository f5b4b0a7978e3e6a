#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/shards.hpp"
#include "convoke/data_prep/files/names.hpp"
#include "convoke/os/file.hpp"

namespace convoke::data_prep {
namespace {

constexpr std::string_view kImageFolder = "image-folder";

struct Entry {
  std::string_view name;
  bool (*detects)(const std::filesystem::path&, const ReadingOptions&);
  std::unique_ptr<Source> (*opens)(const std::filesystem::path&, const SourceOptions&);
};

// Detects a kind that is no table, so the options of reading do not matter.
template <bool (*kDetects)(const std::filesystem::path&)>
bool by_path(const std::filesystem::path& path, const ReadingOptions& /*options*/) {
  return kDetects(path);
}

// Tried in this order.
constexpr std::array kSources{
    Entry{"idx", by_path<is_idx>, open_idx},
    Entry{"cifar", by_path<is_cifar>, open_cifar},
    Entry{"numpy", by_path<is_numpy>, open_numpy},
    Entry{"hdf5", by_path<is_hdf5_arrays>, open_hdf5_arrays},
    Entry{"io-traces", is_io_traces, open_io_traces},
    Entry{"manifest", is_manifest, open_manifest},
    Entry{kImageFolder, by_path<is_image_folder>, open_image_folder},
    Entry{"tfrecord", by_path<is_tfrecord>, open_tfrecord},
    Entry{"webdataset", by_path<is_webdataset>, open_webdataset},
    Entry{"text-folder", by_path<is_text_folder>, open_text_folder},
    Entry{"text-csv", is_text_csv, open_text_csv},
    Entry{"table", is_table_csv, open_table_csv},
};

// Returns the first kind that recognizes `path`, or nullptr.
const Entry* recognize(const std::filesystem::path& path, const ReadingOptions& options) {
  const auto it = std::find_if(kSources.begin(), kSources.end(),
                               [&](const Entry& source) { return source.detects(path, options); });
  return it == kSources.end() ? nullptr : &*it;
}

// The kinds of a CSV, those with more requirements first.
constexpr std::array<std::string_view, 3> kCsvKinds{"manifest", "text-csv", "table"};

// Returns the CSVs in a folder, except those that `convoke prepare` writes.
std::vector<std::filesystem::path> csv_files_in(const std::filesystem::path& folder,
                                                const ReadingOptions& options) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with('.') && !name.ends_with(".findings.csv") && is_table_csv(entry.path(), options))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Returns the CSVs of a folder that may list its samples: of the kind `named` or, if empty, of the first kind
// that any of them has.
std::vector<std::filesystem::path> candidates_in(const std::filesystem::path& folder, std::string_view named,
                                                 const ReadingOptions& options) {
  const std::vector<std::filesystem::path> files = csv_files_in(folder, options);
  std::vector<std::filesystem::path> found;
  for (const std::string_view kind : kCsvKinds) {
    if (!named.empty() && kind != named) continue;
    const auto detects = find_in(kSources, kind, "").detects;
    std::copy_if(files.begin(), files.end(), std::back_inserter(found),
                 [&](const std::filesystem::path& file) { return detects(file, options); });
    if (!found.empty()) break;
  }
  return found;
}

// If a CSV in a folder lists its samples, the folder stands for that CSV: pictures without class folders and
// their labels (EyePACS, APTOS), or a table. Throws Error naming the CSVs if there are several.
std::filesystem::path resolve_folder(const std::filesystem::path& path, const std::string& kind,
                                     const ReadingOptions& options) {
  const bool csv_kind = std::find(kCsvKinds.begin(), kCsvKinds.end(), kind) != kCsvKinds.end();
  if (!std::filesystem::is_directory(path) || data::has_shards(path) || (!kind.empty() && !csv_kind))
    return path;
  const Entry* const source = recognize(path, options);
  const bool other = source != nullptr && (source->name != kImageFolder || has_class_folders(path));
  if (other && kind.empty()) return path;
  const std::vector<std::filesystem::path> found = candidates_in(path, kind, options);
  if (found.empty()) return path;
  if (found.size() == 1) return found.front();
  throw Error(fmt::format("{}: several of its CSV files may list its samples", path.string()),
              "name one of them instead: " + listing(std::vector<std::string>(found.begin(), found.end())));
}

// The kind of a source, the path to open, and why.
struct Choice {
  std::filesystem::path path;
  const Entry* source;
  std::string why;
};

// Returns the kind of a CSV whose columns the options name, by the contents of these columns; else "".
std::string kind_by_columns(const std::filesystem::path& path, const SourceOptions& options) {
  const ColumnOptions& columns = options.columns;
  if (!is_table_csv(path, options.reading)) return {};
  if (!columns.path.empty()) return "manifest";
  if (!columns.text.empty()) return "text-csv";
  if (!columns.features.empty()) return "table";
  return {};
}

constexpr std::array kPacked{".zip", ".7z", ".rar", ".gz", ".xz", ".bz2", ".zst"};

// Returns the kind of a CSV that only the options make readable; nullptr for other files. Throws Error if
// they do not.
const Entry* read_as_table(const std::filesystem::path& path, const ReadingOptions& options) {
  const std::string ending = lower_case(path.extension().string());
  const std::string inner = lower_case(path.stem().extension().string());
  if (ending == ".gz" && (inner == ".csv" || inner == ".tsv"))
    throw Error(fmt::format("{}: is a compressed table", path.string()),
                "unpack it: gunzip --keep " + path.filename().string());
  if (std::ranges::find(kPacked, ending) != kPacked.end())
    throw Error(fmt::format("{}: is a packed file", path.string()),
                "unpack it, and name the folder or the file in it");
  if (ending == ".xlsx" || ending == ".xls" || ending == ".ods")
    throw Error(fmt::format("{}: is a spreadsheet", path.string()), "save it as CSV");
  if (ending != ".csv" && ending != ".tsv") return nullptr;
  const CsvReading reading = examine_csv(path, options);
  if (reading.header.names.size() < 2) {
    throw Error(fmt::format("{}: the first row has only one cell, \"{}\"", path.string(),
                            shortened(reading.header.names.front(), 60)),
                options.separator.empty()
                    ? "the separators , ; tab | blank and : are found; name another one with --separator"
                    : "leave out --separator, and it is found");
  }
  return &find_in(kSources, find_text_column(reading) ? "text-csv" : "table", "");
}

// Says what an unknown folder holds; empty for a file.
std::string contents_of(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return {};
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const bool empty = entry.is_directory() && std::filesystem::is_empty(entry.path());
    names.push_back(printable(entry.path().filename().native()) + (empty                  ? "/ (empty)"
                                                                   : entry.is_directory() ? "/"
                                                                                          : ""));
  }
  std::sort(names.begin(), names.end());
  return names.empty() ? ": it is empty" : ": it holds " + listing(names, 5);
}

Choice choose(const std::filesystem::path& given, const SourceOptions& options, const std::string& named) {
  if (!std::filesystem::exists(given)) throw Error(fmt::format("{}: no such file or folder", given.string()));
  if (const std::string special = os::special_kind(given); !special.empty()) {
    throw Error(fmt::format("{}: is {}, not a file or folder", given.string(), special),
                "store the data in a file, because a source is read several times");
  }
  if (!options.reading.separator.empty())
    delimiter_from(options.reading.separator);  // a wrong one detects nothing
  const std::filesystem::path path = resolve_folder(given, named, options.reading);
  const std::string kind = named.empty() ? kind_by_columns(path, options) : named;
  if (!kind.empty()) {
    return {path, &find_in(kSources, kind, "kind of source"),
            named.empty() ? "by the columns that the options name" : "as the option says"};
  }
  if (const Entry* const source = recognize(path, options.reading)) return {path, source, {}};
  if (const Entry* const source = read_as_table(path, options.reading)) return {path, source, {}};
  if (has_hdf5_ending(path)) {  // opening it says why it cannot be read
    return {path, &find_in(kSources, "hdf5", "kind of source"), "by its ending"};
  }
  throw Error(fmt::format("{}: is not recognized as a source of samples{}", path.string(), contents_of(path)),
              (std::filesystem::is_directory(path)
                   ? "pictures and texts need a sub-folder for each class, or a CSV with their labels; "
                   : "") +
                  ("known kinds: " + join(source_kinds())) + "; choose one with --kind");
}

// Options of some kinds of sources.
struct KindOptions {
  std::string_view names;  // each between blanks
  std::string_view kinds;
};

constexpr std::array kKindOptions{
    KindOptions{" --group ", "manifest, text-csv, table, io-traces"},
    KindOptions{" --weight-column --split-column ", "manifest, text-csv, table"},
    KindOptions{" --label-column ",
                "manifest, text-csv, table, io-traces, numpy, hdf5, tfrecord, webdataset"},
    KindOptions{" --path-column ", "manifest, numpy, hdf5, tfrecord, webdataset"},
    KindOptions{" --images ", "manifest"},
    KindOptions{" --size --fit --channels ", "image-folder, manifest, tfrecord, webdataset"},
    KindOptions{" --text-column ", "text-csv"},
    KindOptions{" --length --vocabulary --padding --truncating --stop-words ", "text-csv, text-folder"},
    KindOptions{" --categories ", "table"},
    KindOptions{" --features --scale ", "table, io-traces"},
    KindOptions{" --window ", "io-traces"},
    KindOptions{" --axes ", "numpy, hdf5"},
    KindOptions{" --separator --quoting --header --decimal ", "manifest, text-csv, table, io-traces"},
    KindOptions{" --encoding ", "manifest, text-csv, table, io-traces, text-folder"},
};

// Throws Error for an option that this kind of source does not have. To ignore it would be worse: groups
// would be parted, and features not scaled.
void require_options(const Choice& choice, std::span<const std::string> given) {
  for (const std::string& option : given) {
    for (const KindOptions& some : kKindOptions) {
      if (some.names.find(" " + option + " ") == std::string_view::npos ||
          some.kinds.find(choice.source->name) != std::string_view::npos)
        continue;
      throw Error(fmt::format("{}: {} is taken for the kind {}, which does not have this option", option,
                              choice.path.string(), choice.source->name),
                  option == "--group"
                      ? "--group-by takes the groups from the names of the samples"
                      : fmt::format("it is an option of {}; --kind names another kind", some.kinds));
    }
  }
}

}  // namespace

std::unique_ptr<Source> open_source(const std::filesystem::path& path, const SourceOptions& options,
                                    const std::string& kind) {
  for (const auto& [option, names] :
       {std::pair("--class-names", options.class_names), std::pair("--features", options.columns.features)}) {
    if (const std::string twice = repeated_name(names); !twice.empty())
      throw Error(fmt::format("{}: \"{}\" is given twice", option, twice));
  }
  const Choice choice = choose(path, options, kind);
  require_options(choice, options.given);
  return choice.source->opens(choice.path, options);
}

Assumption assumed_kind(const std::filesystem::path& path, const SourceOptions& options,
                        const std::string& kind) {
  const Choice choice = choose(path, options, kind);
  std::string taken(choice.source->name);
  if (choice.path != path) taken += fmt::format(", {}", choice.path.filename().string());
  return {.what = "kind", .taken = taken, .why = choice.why, .option = "--kind"};
}

bool is_source(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return false;
  return recognize(path, {}) != nullptr ||
         (std::filesystem::is_directory(path) && !data::has_shards(path) && !csv_files_in(path, {}).empty());
}

std::vector<std::string> source_kinds() { return names_in(kSources); }

}  // namespace convoke::data_prep

#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/names.hpp"
#include "convoke/data_prep/files/numbers.hpp"
#include "convoke/data_prep/pictures/read_picture.hpp"
#include "convoke/data_prep/sources/csv_catalog.hpp"
#include "convoke/pictures/decode.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

std::optional<std::size_t> find_path_column(const CsvHeader& header, const std::string& given,
                                            const CsvReading& reading) {
  if (const auto column = find_column(header, given, kPathColumns, reading.file)) return column;
  if (header.written) return {};
  CsvReader reader = reading.rows();
  CsvRow row;
  reader.next(row);
  const auto it = std::find_if(row.cells.begin(), row.cells.end(), is_picture_name);
  if (it == row.cells.end()) return {};
  return static_cast<std::size_t>(it - row.cells.begin());
}

// True for anything but a folder. (Reading refuses what is not a file.)
bool is_file(const fs::path& path) {
  std::error_code error;  // the name may be too long
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_directory(status);
}

/// Finds files by the names that a manifest gives them.
class Finder {
 public:
  Finder(const fs::path& manifest, const std::string& images_folder) {
    if (!images_folder.empty()) {
      if (!fs::is_directory(images_folder))
        throw Error(fmt::format("{}: is not a folder of pictures", images_folder));
      folders_ = {images_folder};
      return;
    }
    const fs::path manifest_folder = manifest.parent_path();
    const std::string stem = manifest.stem().string();
    folders_ = {manifest_folder};
    for (const std::string& name :
         {stem, stem + "_images", std::string("images"), std::string("train_images"), std::string("train")}) {
      if (fs::is_directory(manifest_folder / name)) folders_.push_back(manifest_folder / name);
    }
  }

  std::optional<fs::path> find(const std::string& name) const {
    for (const fs::path& folder : folders_) {
      if (fs::path file = folder / name; is_file(file)) return file;
      if (is_picture_name(name)) continue;
      for (const std::string_view ending : kPictureEndings) {
        if (fs::path file = folder / (name + std::string(ending)); is_file(file)) return file;
      }
    }
    return {};
  }

  std::string places() const {
    std::vector<std::string> names;
    for (const fs::path& folder : folders_)
      names.push_back(folder.empty() ? "the current folder" : folder.string());
    return listing(names);
  }

 private:
  std::vector<fs::path> folders_;
};

// A class that occurs only in validation or test rows is usually a class with another spelling.
void require_training_classes(const Catalog& catalog, const std::string& where) {
  std::set<std::int32_t> trained;
  for (const Item& item : catalog.items) {
    if (item.fault.empty() && (item.split.empty() || item.split == "train")) trained.insert(item.label);
  }
  if (trained.empty()) return;
  std::vector<std::string> known;
  for (const std::int32_t label : trained) known.push_back(catalog.class_name(label));
  for (const Item& item : catalog.items) {
    if (!item.fault.empty() || trained.count(item.label) > 0) continue;
    const std::string name = catalog.class_name(item.label);
    throw Error(fmt::format("{}: {} has the class \"{}\", which no training row has{}", where, item.name,
                            name, did_you_mean(name, known)),
                "classes of the training rows: " + listing(known));
  }
}

class Manifest final : public Source {
 public:
  Manifest(const fs::path& file, const SourceOptions& options) : file_(file), reader_(options.picture) {
    const CsvReading reading = examine_csv(file, options.reading);
    const CsvHeader& header = reading.header;
    const std::optional<std::size_t> path = find_path_column(header, options.columns.path, reading);
    if (!path) {
      throw Error(fmt::format("{}: has no column of picture paths", file.string()),
                  "choose one with --path-column; columns: " + listing(header.names));
    }
    list(reading, find_roles(reading, options.columns), options, *path);
    require_training_classes(catalog_, file.string());
    add_unlisted();
    catalog_.assumptions.insert(catalog_.assumptions.begin(),
                                {.what = "pictures",
                                 .taken = fmt::format("column \"{}\"", header.names[*path]),
                                 .why = !options.columns.path.empty() ? "as the option says"
                                        : header.written              ? "by its name"
                                                                      : "it has the name of a picture",
                                 .option = "--path-column"});
    catalog_.provenance = fmt::format("pictures listed in {}", file.string());
    reader_.learn(catalog_, [&](std::size_t item) { return pictures::read_encoded(files_[item]); });
  }

  std::span<const fs::path> files() const override { return files_; }

  SampleFormat format() const override { return reader_.format(); }

  Original read(std::size_t item, std::span<std::byte> sample) override {
    return reader_.read(pictures::read_encoded(files_[item]), printable(files_[item].native()), sample);
  }

 private:
  std::string name_of(const fs::path& picture) const {
    const fs::path below =
        picture.lexically_normal().lexically_relative(file_.parent_path().lexically_normal());
    return printable((below.empty() ? picture : below).native());
  }

  void list(const CsvReading& reading, const CsvRoles& roles, const SourceOptions& options,
            std::size_t path) {
    const Finder finder(file_, options.columns.images_folder);
    std::map<std::uint64_t, fs::path> file_of_line;
    CsvCatalog rows = list_rows(reading, roles, options, [&](const CsvRow& row, Item& item) {
      const std::string cell = trimmed(row.cells[path]);
      if (cell.empty()) {
        item.fault = "has no path";
        return;
      }
      const std::optional<fs::path> found = finder.find(cell);
      if (!found) {
        item.fault =
            fmt::format("{}: is not in {}{}", printable(cell), finder.places(),
                        cell.find('\\') == std::string::npos ? "" : "; write / instead of \\ in paths");
        return;
      }
      const auto [before, first] = line_of_.emplace(found->lexically_normal(), row.line);
      if (!first) {
        item.fault = fmt::format("{}: is already listed in line {}", printable(cell), before->second);
        return;
      }
      item.name = name_of(*found);
      file_of_line[row.line] = *found;
    });
    catalog_ = std::move(rows.catalog);
    for (const CsvRow& row : rows.rows) files_.push_back(file_of_line[row.line]);
    if (options.splits_are_drawn) {
      for (Item& item : catalog_.items) item.split.clear();
    }
  }

  void add_unlisted() {
    std::set<fs::path> folders;
    for (const auto& [picture, line] : line_of_) folders.insert(picture.parent_path());
    for (const fs::path& folder : folders) {
      std::set<fs::path> unlisted;
      for (const fs::directory_entry& entry : fs::directory_iterator(folder.empty() ? "." : folder)) {
        const fs::path picture = (folder / entry.path().filename()).lexically_normal();
        if (is_picture_name(picture) && !is_hidden(picture) && line_of_.count(picture) == 0)
          unlisted.insert(picture);
      }
      for (const fs::path& picture : unlisted) {
        catalog_.items.push_back({.name = name_of(picture),
                                  .fault = fmt::format("is not listed in {}", file_.filename().string())});
        files_.push_back(picture);
      }
    }
  }

  fs::path file_;
  std::vector<fs::path> files_;                // of the items
  std::map<fs::path, std::uint64_t> line_of_;  // of the pictures found so far
  PictureReader reader_;
};

}  // namespace

bool is_manifest(const fs::path& path, const ReadingOptions& options) {
  const std::optional<CsvReading> reading = csv_beginning(path, options);
  return reading && find_path_column(reading->header, "", *reading);
}

std::unique_ptr<Source> open_manifest(const fs::path& file, const SourceOptions& options) {
  return std::make_unique<Manifest>(file, options);
}

}  // namespace convoke::data_prep

#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/file_stamp.hpp"
#include "convoke/data_prep/files/names.hpp"
#include "convoke/data_prep/pictures/read_picture.hpp"
#include "convoke/pictures/decode.hpp"
#include "sources/class_files.hpp"
#include "sources/labels.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

bool is_any_picture(const fs::path& file) { return is_picture_name(file) || is_foreign_picture_name(file); }

// An empty folder with the name of a picture counts as a picture, which cannot be read.
bool is_folder(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_directory(error) && !(is_any_picture(entry.path()) && fs::is_empty(entry.path(), error));
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : entries_of(folder)) {
    if (is_folder(entry)) folders.push_back(entry.path());
  }
  return folders;
}

/// Calls `visit` with each file below a folder until it returns that it has enough.
class Walk {
 public:
  template <class Visit>
  bool files(const fs::path& folder, const Visit& visit) {
    // A link to an enclosing folder would never end.
    const fs::path real = fs::canonical(folder);
    const auto within = [&](const fs::path& inner) {
      return std::mismatch(real.begin(), real.end(), inner.begin(), inner.end()).first == real.end();
    };
    if (std::any_of(around_.begin(), around_.end(), within)) {
      throw Error(
          fmt::format("{}: is a symbolic link to an enclosing folder, {}", folder.string(), real.string()),
          "remove the link");
    }
    around_.push_back(real);
    for (const fs::directory_entry& entry : entries_of(folder)) {
      const bool enough = is_folder(entry) ? files(entry.path(), visit) : visit(entry.path());
      if (enough) return true;
    }
    around_.pop_back();
    return false;
  }

 private:
  std::vector<fs::path> around_;
};

bool holds_pictures(const fs::path& folder) { return Walk().files(folder, is_any_picture); }

std::string name_of(const fs::path& folder) { return printable(folder.filename().native()); }

// Returns the sub-folders train, validation and test, in this order, or `folder` itself if it has none of
// them. The other entries go to `others`.
std::vector<SplitFolder> split_folders(const fs::path& folder, std::vector<std::string>& others) {
  std::vector<SplitFolder> splits;
  for (const std::string_view split : kUsualSplits) {
    for (const fs::path& sub : folders_in(folder)) {
      if (canonical_split(sub.filename().string()) == split && !folders_in(sub).empty()) {
        splits.push_back({std::string(split), sub});
      }
    }
  }
  const bool trains = !splits.empty() && splits.front().split == "train";
  if (!trains) return {{"", folder}};
  for (const fs::path& sub : folders_in(folder)) {
    if (std::none_of(splits.begin(), splits.end(), [&](const auto& s) { return s.folder == sub; })) {
      others.push_back(name_of(sub));
    }
  }
  require_different_splits(splits);
  return splits;
}

class ImageFolder final : public Source {
 public:
  ImageFolder(const fs::path& folder, const SourceOptions& options)
      : folder_(folder), output_(options.output), reader_(options.picture) {
    std::vector<std::string> others;
    const std::vector<SplitFolder> splits = split_folders(folder, others);
    std::vector<std::string> classes = list_classes(splits.front().folder);
    if (classes.size() < 2) {
      throw Error(
          fmt::format("{}: has {} class folder{}; a dataset needs at least 2 classes",
                      splits.front().folder.string(), classes.size(),
                      classes.empty() ? "s" : fmt::format(", {}", classes.front())),
          "a folder of pictures needs a sub-folder for each class; if a CSV has the labels, name the CSV");
    }
    for (const SplitFolder& split : splits) {
      if (&split != &splits.front()) require_same_classes(splits.front().folder, classes, split.folder);
      add_items(split);
    }
    catalog_.classes = static_cast<std::int64_t>(classes.size());
    catalog_.class_names = std::move(classes);
    catalog_.assumptions.push_back({.what = "classes",
                                    .taken = fmt::format("{} classes", format_count(catalog_.classes)),
                                    .why = "the folders in " + splits.front().folder.string()});
    rename_classes(catalog_, options.class_names, folder.string());
    if (splits.size() > 1) {
      std::vector<std::string> names;
      for (const SplitFolder& split : splits) names.push_back(name_of(split.folder));
      catalog_.assumptions.push_back({.what = "splits",
                                      .taken = "the folders " + listing(names),
                                      .why = "by their names",
                                      .option = "--split"});
    }
    catalog_.provenance = fmt::format("folder of pictures {}", folder.string());
    if (!others.empty()) catalog_.provenance += fmt::format(", without {}", listing(others));
    reader_.learn(catalog_, [&](std::size_t item) { return pictures::read_encoded(files_[item]); });
  }

  std::span<const fs::path> files() const override { return files_; }

  SampleFormat format() const override { return reader_.format(); }

  Original read(std::size_t item, std::span<std::byte> sample) override {
    return reader_.read(pictures::read_encoded(files_[item]), printable(files_[item].native()), sample);
  }

 private:
  // Returns the names of the class folders; each must hold a picture.
  std::vector<std::string> list_classes(const fs::path& folder) const {
    std::vector<std::string> classes;
    for (const fs::path& sub : folders_in(folder)) {
      if (is_output(sub, output_)) continue;
      if (!holds_pictures(sub)) {
        throw Error(fmt::format("{}: the class is empty: its folder has no picture", sub.string()),
                    "remove the folder, or put pictures there");
      }
      classes.push_back(name_of(sub));
    }
    if (const auto twins = find_twins(classes))
      throw Error(fmt::format("{}: the class folders {}", folder.string(), twins_text(*twins)), kTwinsHint);
    return classes;
  }

  void require_same_classes(const fs::path& first, const std::vector<std::string>& classes,
                            const fs::path& other) {
    const std::vector<std::string> found = list_classes(other);
    const auto without = [](const std::vector<std::string>& all, const std::vector<std::string>& some) {
      std::vector<std::string> rest;
      std::copy_if(all.begin(), all.end(), std::back_inserter(rest), [&](const std::string& name) {
        return std::find(some.begin(), some.end(), name) == some.end();
      });
      return rest;
    };
    const std::vector<std::string> missing = without(classes, found), more = without(found, classes);
    if (missing.empty() && more.empty()) return;
    std::vector<std::string> both = missing;
    both.insert(both.end(), more.begin(), more.end());
    if (const auto twins = find_twins(both)) {
      throw Error(fmt::format("{}: has another class folder than {}: {}", other.string(), first.string(),
                              twins_text(*twins)),
                  kTwinsHint);
    }
    std::string message = fmt::format("{}: has other classes than {}:", other.string(), first.string());
    if (!missing.empty()) message += fmt::format(" it lacks {};", listing(missing));
    if (!more.empty()) message += fmt::format(" it has also {};", listing(more));
    message.pop_back();
    throw Error(message, "class folders must have exactly the same names in all splits");
  }

  void add(const fs::path& file, const std::string& split, std::int32_t label, std::string fault) {
    if (fault.empty() && is_foreign_picture_name(file))
      fault = "is a picture in a format that is not supported";
    catalog_.items.push_back({.name = printable(file.lexically_relative(folder_).native()),
                              .split = split,
                              .label = label,
                              .fault = std::move(fault)});
    files_.push_back(file);
  }

  void add_items(const SplitFolder& split) {
    std::int32_t label = 0;
    for (const fs::directory_entry& entry : entries_of(split.folder)) {
      if (!is_folder(entry)) {
        if (is_any_picture(entry.path())) add(entry.path(), split.split, 0, "is not in a class folder");
        continue;
      }
      if (is_output(entry.path(), output_)) continue;
      Walk().files(entry.path(), [&](const fs::path& file) {
        if (is_any_picture(file)) add(file, split.split, label, "");
        return false;
      });
      ++label;
    }
  }

  fs::path folder_, output_;
  std::vector<fs::path> files_;  // of the items
  PictureReader reader_;
};

// True for names such as "train_images" and "test", in a data set whose classes are in a CSV.
bool has_split_name(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const std::string split = canonical_split(name.substr(0, name.find_first_of("-_. ")));
  return is_usual_split(split) || split == "images";
}

}  // namespace

bool has_class_folders(const fs::path& path) {
  std::vector<std::string> others;
  const std::vector<fs::path> folders = folders_in(split_folders(path, others).front().folder);
  return std::count_if(folders.begin(), folders.end(), [](const fs::path& folder) {
           return !has_split_name(folder) && holds_pictures(folder);
         }) > 1;
}

bool is_image_folder(const fs::path& path) {
  if (!fs::is_directory(path)) return false;
  const std::vector<fs::path> folders = folders_in(path);
  return std::any_of(folders.begin(), folders.end(), holds_pictures);
}

std::unique_ptr<Source> open_image_folder(const fs::path& folder, const SourceOptions& options) {
  return std::make_unique<ImageFolder>(folder, options);
}

}  // namespace convoke::data_prep

#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>

#include "convoke/archive/byte_reader.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/tfrecord.hpp"
#include "sources/labels.hpp"
#include "sources/packed_pictures.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;
using Kind = TfFeature::Kind;
using Features = std::vector<TfFeature>;

constexpr std::array<std::string_view, 6> kPictureNames{"image/encoded", "image", "image_raw",
                                                        "img",           "jpeg",  "image_bytes"};
constexpr std::array<std::string_view, 6> kLabelNames{"image/class/label", "label",   "class", "target",
                                                      "class/label",       "category"};
constexpr std::string_view kTextName = "image/class/text";

// A file is gzipped if its first record is invalid as it stands. Its first two bytes alone do not decide,
// because they may equal gzip's by chance.
std::unique_ptr<archive::ByteReader> open_shard(const fs::path& file) {
  auto plain = archive::open_plain(file);
  return !begins_as_tfrecord(*plain) && archive::begins_as_gzip(*plain) ? archive::open_gzip(file)
                                                                        : std::move(plain);
}

bool is_record_file(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name.find(".tfrec") != std::string::npos) return true;
  return name.find("-of-") != std::string::npos && begins_as_tfrecord(*open_shard(file));
}

const TfFeature* find(const Features& features, std::string_view name) {
  const auto it = std::find_if(features.begin(), features.end(),
                               [&](const TfFeature& feature) { return feature.name == name; });
  return it == features.end() || it->count == 0 ? nullptr : &*it;
}

std::string feature_names(const Features& features) {
  std::vector<std::string> names = names_in(features);
  std::sort(names.begin(), names.end());
  return names.empty() ? "none" : listing(names);
}

/// The names of the records' features.
struct Roles {
  std::string picture;
  std::string label;
  std::string text;  ///< name of the class for a numbered label; may be empty
};

/// Reads all records and lists their pictures and labels.
class TfRecordIndex {
 public:
  TfRecordIndex(const fs::path& path, const SourceOptions& options) : path_(path), options_(options) {
    roles_ = {options.columns.path, options.columns.label, std::string(kTextName)};
  }

  PackedPictures run() {
    pictures_.open = open_shard;
    pictures_.shards = find_shards(path_, is_record_file);
    for (std::size_t s = 0; s < pictures_.shards.size(); ++s) add_shard(s);
    expect_found(pictured_, roles_.picture, "picture", "--path-column", kPictureNames);
    expect_found(labeled_, roles_.label, "label", "--label-column", kLabelNames);
    set_labels(pictures_.catalog, labels_, options_.class_names, path_.string());
    if (pictures_.catalog.class_names.empty() || (numbered_ && !options_.class_names.empty())) name_classes();
    for (const auto& [what, name, option] : {std::tuple("pictures", roles_.picture, "--path-column"),
                                             std::tuple("labels", roles_.label, "--label-column")})
      pictures_.catalog.assumptions.push_back({.what = what,
                                               .taken = fmt::format("feature \"{}\"", name),
                                               .why = "by its name",
                                               .option = option});
    pictures_.catalog.provenance =
        fmt::format("TFRecords of {}, features {} and {}", path_.string(), roles_.picture, roles_.label);
    return std::move(pictures_);
  }

 private:
  void add_shard(std::size_t shard) {
    const Shard& file = pictures_.shards[shard];
    TfRecordReader records(open_shard(file.path));
    TfRecord record;
    for (std::size_t i = 0; records.next(record); ++i) {
      Item item{.name = fmt::format("{}[{}]", file.name, i), .split = file.split};
      labels_.emplace_back();
      texts_.emplace_back();
      pictures_.places.push_back({.shard = shard});
      if (record.whole) {
        add_record(record, item);
      } else {
        item.fault = "its checksum (CRC-32C) is wrong";
      }
      pictures_.catalog.items.push_back(std::move(item));
    }
  }

  void add_record(const TfRecord& record, Item& item) {
    const Features features = parse_tf_example(record.data, fmt::format("{}: {}", path_.string(), item.name));
    if (example_.empty()) example_ = feature_names(features);
    if (roles_.picture.empty()) {
      const auto is_bytes = [](const TfFeature& f) { return f.kind == Kind::kBytes; };
      roles_.picture = choose(features, kPictureNames, is_bytes, "--path-column", item.name);
    }
    if (roles_.label.empty()) choose_label(features, item.name);

    const TfFeature* const picture = find(features, roles_.picture);
    const TfFeature* const label = find(features, roles_.label);
    pictured_ = pictured_ || picture != nullptr;
    labeled_ = labeled_ || label != nullptr;
    if (picture == nullptr || picture->kind != Kind::kBytes) {
      item.fault = fmt::format("has no picture; features: {}", feature_names(features));
    } else if (label == nullptr || label->count > 1) {
      item.fault = label == nullptr ? fmt::format("has no label; features: {}", feature_names(features))
                                    : fmt::format("has {} labels", label->count);
    } else {
      pictures_.places.back().offset =
          record.offset + static_cast<std::uint64_t>(picture->bytes.data() - record.data.data());
      pictures_.places.back().bytes = picture->bytes.size();
      labels_.back() = text_of(*label);
      numbered_ = numbered_ || label->kind != Kind::kBytes;
      const TfFeature* const text = find(features, roles_.text);
      if (text != nullptr && text->kind == Kind::kBytes) texts_.back() = text->text();
    }
  }

  static std::string text_of(const TfFeature& label) {
    if (label.kind == Kind::kBytes) return std::string(label.text());
    if (label.kind == Kind::kIntegers) return std::to_string(label.integer);
    return fmt::format("{}", label.number);  // whole numbers have no decimal point
  }

  // Returns the one of `names` that exists and fits; empty: none.
  template <class Names, class Fits>
  std::string choose(const Features& features, const Names& names, Fits&& fits, const char* option,
                     const std::string& record) const {
    std::string chosen;
    for (const std::string_view name : names) {
      const TfFeature* const feature = find(features, name);
      if (feature == nullptr || !fits(*feature)) continue;
      if (!chosen.empty()) {
        throw Error(fmt::format("{}: {}: both {} and {} fit", path_.string(), record, chosen, name),
                    fmt::format("choose one with {}", option));
      }
      chosen = name;
    }
    return chosen;
  }

  // A number takes precedence over a text, which is then the name of its class.
  void choose_label(const Features& features, const std::string& record) {
    const auto is_number = [](const TfFeature& f) { return f.kind != Kind::kBytes && f.count == 1; };
    const auto is_text = [](const TfFeature& f) { return f.kind == Kind::kBytes && f.count == 1; };
    const std::string number = choose(features, kLabelNames, is_number, "--label-column", record);
    const std::string text = choose(features, kLabelNames, is_text, "--label-column", record);
    roles_.label = number.empty() ? text : number;
    if (!number.empty() && !text.empty() && find(features, kTextName) == nullptr) roles_.text = text;
  }

  template <class Names>
  void expect_found(bool found, const std::string& name, const char* what, const char* option,
                    const Names& usual) const {
    if (found || example_.empty()) return;
    throw Error(fmt::format("{}: no record has a {}{}{}; features of the first one: {}", path_.string(), what,
                            name.empty() ? "" : " called ", name, example_),
                fmt::format("choose it with {}; usual names are {}", option, fmt::join(usual, ", ")));
  }

  // Names the classes by the texts next to numbered labels, and then as the user says. If the texts
  // contradict each other, names of the user follow the numbers.
  void name_classes() {
    Catalog& catalog = pictures_.catalog;
    const std::vector<std::string>& given = options_.class_names;
    std::vector<std::string> names(static_cast<std::size_t>(catalog.classes));
    bool any = false;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (texts_[i].empty() || !catalog.items[i].fault.empty()) continue;
      any = true;
      std::string& name = names[static_cast<std::size_t>(catalog.items[i].label)];
      if (name.empty()) name = texts_[i];
      if (name == texts_[i]) continue;
      if (!given.empty()) return;
      throw Error(fmt::format("{}: {}: class {} is called {} here and {} before", path_.string(),
                              catalog.items[i].name, catalog.items[i].label, texts_[i], name),
                  "give the names with --class-names");
    }
    if (!any) return;
    // A class without a text has the next name of the user that is no text, if others are.
    const std::set<std::string> texts(names.begin(), names.end());
    const auto is_text = [&](const std::string& name) { return texts.count(name) > 0; };
    auto next = std::ranges::any_of(given, is_text) ? given.begin() : given.end();
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (!names[c].empty()) continue;
      next = std::find_if_not(next, given.end(), is_text);
      names[c] = next == given.end() ? std::to_string(c) : *next++;
    }
    catalog.class_names = std::move(names);
    rename_classes(catalog, given, path_.string());
  }

  const fs::path& path_;
  const SourceOptions& options_;
  Roles roles_;
  std::string example_;                                         // features of the first record
  bool pictured_ = false, labeled_ = false, numbered_ = false;  // true if any record is
  PackedPictures pictures_;
  std::vector<std::string> labels_, texts_;  // of each item
};

}  // namespace

bool is_tfrecord(const fs::path& path) { return has_shard(path, is_record_file); }

std::unique_ptr<Source> open_tfrecord(const fs::path& path, const SourceOptions& options) {
  return decode_packed(TfRecordIndex(path, options).run(), options.picture, path);
}

}  // namespace convoke::data_prep

#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "convoke/archive/tar.hpp"
#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/names.hpp"
#include "sources/labels.hpp"
#include "sources/packed_pictures.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kShardEndings{".tar", ".tar.gz", ".tgz"};
constexpr std::uint64_t kMostLabelBytes = 1000;

bool is_shard(const fs::path& file) {
  const std::string name = file.filename().string();
  return std::any_of(kShardEndings.begin(), kShardEndings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

/// The parts of "images/0001.JPG": the key "images/0001" and the ending "jpg".
struct Name {
  std::string key;
  std::string ending;

  explicit Name(const std::string& file) {
    const std::size_t folder = file.rfind('/') + 1;  // 0 without a folder
    const std::size_t dot = std::min(file.find('.', folder), file.size());
    key = file.substr(0, dot);
    ending = lower_case(file.substr(std::min(dot + 1, file.size())));
  }
};

/// Reads all shards and lists their samples.
class WebDatasetIndex {
 public:
  WebDatasetIndex(const fs::path& path, const SourceOptions& options)
      : path_(path),
        options_(options),
        label_ending_(options.columns.label.empty() ? "cls" : lower_case(options.columns.label)) {}

  PackedPictures run() {
    pictures_.open = archive::open_bytes;
    pictures_.shards = find_shards(path_, is_shard);
    for (std::size_t s = 0; s < pictures_.shards.size(); ++s) add_shard(s);
    expect(pictured_, "picture", "choose its ending with --path-column, such as left.png");
    expect(labeled_, "label",
           fmt::format(
               "labels are in .{} files; choose another ending with --label-column; if the archive has a "
               "folder for each class, unpack it",
               label_ending_));
    set_labels(pictures_.catalog, labels_, options_.class_names, path_.string());
    pictures_.catalog.assumptions.push_back(
        {.what = "labels", .taken = fmt::format("files .{}", label_ending_), .option = "--label-column"});
    pictures_.catalog.provenance = fmt::format("tar shards of {}", path_.string());
    return std::move(pictures_);
  }

 private:
  void add_shard(std::size_t s) {
    const Shard& shard = pictures_.shards[s];
    const auto bytes = archive::open_bytes(shard.path);
    archive::TarReader tar(*bytes);
    std::optional<std::string> key;
    for (archive::TarMember member; tar.next(member);) {
      const Name name(member.name);
      if (name.ending.empty() || name.key.empty() || name.key.ends_with('/')) continue;
      if (name.key != key) {
        if (key) finish_sample();
        begin_sample(shard, name.key);
        key = name.key;
      }
      endings_.insert(name.ending);
      if (is_picture(name.ending)) {
        ++found_pictures_;
        pictures_.places.back() = {.shard = s, .offset = member.offset, .bytes = member.bytes};
      } else if (name.ending == label_ending_) {
        label_ = std::string(std::min(member.bytes, kMostLabelBytes), '\0');
        bytes->read(member.offset, std::as_writable_bytes(std::span(*label_)));
      }
    }
    if (key) finish_sample();
  }

  bool is_picture(const std::string& ending) const {
    return options_.columns.path.empty()
               ? is_picture_name("x." + ending) && ending.find('.') == std::string::npos
               : ending == lower_case(options_.columns.path);
  }

  void begin_sample(const Shard& shard, const std::string& key) {
    pictures_.catalog.items.push_back(
        {.name = fmt::format("{}: {}", printable(shard.name), printable(key)), .split = shard.split});
    pictures_.places.emplace_back();
    labels_.emplace_back();
    found_pictures_ = 0;
    label_.reset();
  }

  void finish_sample() {
    Item& item = pictures_.catalog.items.back();
    pictured_ = pictured_ || found_pictures_ > 0;
    labeled_ = labeled_ || label_.has_value();
    if (found_pictures_ != 1) item.fault = found_pictures_ == 0 ? "has no picture" : "has several pictures";
    if (item.fault.empty() && !label_) item.fault = fmt::format("has no label (.{})", label_ending_);
    if (label_) labels_.back() = trimmed(*label_);
  }

  void expect(bool found, const char* what, const std::string& hint) const {
    if (found || endings_.empty()) return;
    throw Error(fmt::format("{}: no sample has a {}; the endings are {}", path_.string(), what,
                            listing(std::vector<std::string>(endings_.begin(), endings_.end()))),
                hint);
  }

  const fs::path& path_;
  const SourceOptions& options_;
  std::string label_ending_;
  PackedPictures pictures_;
  std::vector<std::string> labels_;  // of each item
  std::set<std::string> endings_;    // of all files
  int found_pictures_ = 0;           // of the last item
  std::optional<std::string> label_;
  bool pictured_ = false, labeled_ = false;  // true if any sample is
};

}  // namespace

bool is_webdataset(const fs::path& path) { return has_shard(path, is_shard); }

std::unique_ptr<Source> open_webdataset(const fs::path& path, const SourceOptions& options) {
  return decode_packed(WebDatasetIndex(path, options).run(), options.picture, path);
}

}  // namespace convoke::data_prep

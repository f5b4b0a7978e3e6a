#include "sources/packed_pictures.hpp"

#include <algorithm>
#include <cctype>

#include "convoke/data_prep/files/names.hpp"
#include "convoke/data_prep/pictures/read_picture.hpp"
#include "sources/labels.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

std::string split_in_name(const std::string& name) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  auto at = name.begin();
  while (at != name.end()) {
    const auto begin = std::find_if(at, name.end(), letter);
    at = std::find_if_not(begin, name.end(), letter);
    const std::string split = canonical_split(std::string(begin, at));
    if (is_usual_split(split)) return split;
  }
  return {};
}

class PackedPictureSource final : public Source {
 public:
  PackedPictureSource(PackedPictures pictures, const PictureOptions& options)
      : pictures_(std::move(pictures)), reader_(options) {
    catalog_ = std::move(pictures_.catalog);
    reader_.learn(catalog_, [this](std::size_t item) { return encoded(item); });
  }

  SampleFormat format() const override { return reader_.format(); }

  Original read(std::size_t item, std::span<std::byte> sample) override {
    return reader_.read(encoded(item), catalog_.items[item].name, sample);
  }

 private:
  // Opens one shard at a time: there may be thousands, and items come in the order of the shards.
  std::vector<std::byte> encoded(std::size_t item) {
    const PackedPictures::Place& place = pictures_.places[item];
    if (bytes_ == nullptr || open_ != place.shard) {
      bytes_ = pictures_.open(pictures_.shards[place.shard].path);
      open_ = place.shard;
    }
    std::vector<std::byte> picture(place.bytes);
    bytes_->read(place.offset, picture);
    return picture;
  }

  PackedPictures pictures_;
  PictureReader reader_;
  std::unique_ptr<archive::ByteReader> bytes_;  // of shard open_
  std::size_t open_ = 0;
};

}  // namespace

std::string split_in_path(const fs::path& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : path) parts.push_back(part.string());
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (std::string split = split_in_name(*part); !split.empty()) return split;
  }
  return {};
}

std::vector<Shard> find_shards(const fs::path& path, bool (*is_one)(const fs::path&)) {
  std::vector<Shard> shards;
  if (!fs::is_directory(path)) {
    shards.push_back({path, path.filename().string(), split_in_path(path.filename())});
    return shards;
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_directory() || is_hidden(entry.path()) || !is_one(entry.path())) continue;
    const fs::path below = entry.path().lexically_relative(path);
    shards.push_back({entry.path(), below.string(), split_in_path(below)});
  }
  std::sort(shards.begin(), shards.end(), [](const Shard& a, const Shard& b) { return a.name < b.name; });
  return shards;
}

bool has_shard(const fs::path& path, bool (*is_one)(const fs::path&)) {
  if (!fs::is_directory(path)) return fs::is_regular_file(path) && is_one(path);
  return std::any_of(fs::recursive_directory_iterator(path), fs::recursive_directory_iterator(),
                     [&](const fs::directory_entry& entry) {
                       return entry.is_regular_file() && !is_hidden(entry.path()) && is_one(entry.path());
                     });
}

std::unique_ptr<Source> decode_packed(PackedPictures pictures, const PictureOptions& options,
                                      const std::filesystem::path& path) {
  require_classes(path.string(), pictures.catalog);
  return std::make_unique<PackedPictureSource>(std::move(pictures), options);
}

}  // namespace convoke::data_prep

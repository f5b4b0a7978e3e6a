#include "sources/packed_pictures.hpp"

#include "convoke/data_prep/pictures/read_picture.hpp"
#include "sources/labels.hpp"

namespace convoke::data_prep {
namespace {

class PackedPictureSource final : public Source {
 public:
  PackedPictureSource(PackedPictures pictures, const PictureOptions& options)
      : pictures_(std::move(pictures)), reader_(options) {
    reader_.learn(pictures_.catalog, [this](std::size_t item) { return encoded(item); });
  }

  const Catalog& catalog() const override { return pictures_.catalog; }
  SampleFormat format() const override { return reader_.format(); }

  Original read(std::size_t item, std::span<std::byte> sample) override {
    return reader_.read(encoded(item), pictures_.catalog.items[item].name, sample);
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

std::unique_ptr<Source> decode_packed(PackedPictures pictures, const PictureOptions& options,
                                      const std::filesystem::path& path) {
  require_classes(path.string(), pictures.catalog);
  return std::make_unique<PackedPictureSource>(std::move(pictures), options);
}

}  // namespace convoke::data_prep

#include "sample_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/pictures/decode.hpp"
#include "dataset_parts.hpp"

namespace convoke::data {

ArrayReader::ArrayReader(StoredArray pieces, SampleType type, std::size_t row_bytes)
    : pieces_(std::move(pieces)), type_(type), row_bytes_(row_bytes) {
  for (const StoredPiece& piece : pieces_) {
    direct_ = direct_ && piece.offset.has_value();
    files_.emplace_back(piece.file);
  }
}

std::size_t ArrayReader::index_of(std::int64_t row) const {
  return static_cast<std::size_t>(&data::piece_of(pieces_, row) - pieces_.data());
}

void ArrayReader::read(std::int64_t first, std::span<std::byte> rows) const {
  ensure(rows.size() % row_bytes_ == 0, "whole rows are read");
  for (std::size_t index = rows.empty() ? 0 : index_of(first); !rows.empty(); ++index) {
    ensure(index < pieces_.size(), "rows within the array");
    const std::int64_t inside = first - pieces_[index].first;
    const auto there = static_cast<std::size_t>(pieces_[index].count - inside) * row_bytes_;
    const std::span<std::byte> part = rows.first(std::min(rows.size(), there));
    read_piece(index, inside, part);
    rows = rows.subspan(part.size());
    first += static_cast<std::int64_t>(part.size() / row_bytes_);
  }
}

void ArrayReader::read_piece(std::size_t index, std::int64_t first, std::span<std::byte> rows) const {
  const StoredPiece& piece = pieces_[index];
  if (!piece.offset) {
    const hdf5::File file = hdf5::File::open(piece.file);
    return file.dataset(piece.path).read_rows(first, element_type_of(type_), rows);
  }
  files_[index].open()->read_at(*piece.offset + static_cast<std::uint64_t>(first) * row_bytes_, rows);
}

void ArrayReader::will_need(std::int64_t first, std::int64_t count) const {
  while (count > 0) {
    const std::size_t index = index_of(first);
    const StoredPiece& piece = pieces_[index];
    const std::int64_t there = std::min(count, piece.first + piece.count - first);
    if (piece.offset) {
      files_[index].open()->will_read(
          *piece.offset + static_cast<std::uint64_t>(first - piece.first) * row_bytes_,
          static_cast<std::uint64_t>(there) * row_bytes_);
    }
    first += there;
    count -= there;
  }
}

namespace {

// Decodes a picture into a sample of shape (H, W, C). `name` is for messages.
void decode(std::span<const std::byte> encoded, const std::string& name, const Shape& shape,
            std::span<std::byte> sample) {
  constexpr const char* kHint = "copy the dataset again, or prepare the data again";
  const auto require_shape = [&](const pictures::PictureSize& size) {
    if (size.height == shape[0] && size.width == shape[1]) return;
    throw Error(fmt::format("{}: has {} x {} pixels, but the dataset's samples have {} x {}", name,
                            size.height, size.width, shape[0], shape[1]));
  };
  try {
    require_shape(pictures::picture_shape(encoded, name).extent);  // before it takes memory
    const pictures::Image image = pictures::decode_picture(encoded, name, shape[2]);
    require_shape(image.extent());
    std::ranges::copy(std::as_bytes(std::span(image.values)), sample.begin());
  } catch (const Error& error) {
    throw Error(error.what(), kHint);
  }
}

}  // namespace

SampleReader::SampleReader(const StoredSplit& split)
    : samples_(split.samples),
      shape_(split.shape),
      sample_bytes_(split.sample_bytes()),
      ends_(split.ends),
      stored_(split.is_encoded() ? split.encoded : split.samples, split.type,
              split.is_encoded() ? 1 : split.sample_bytes()) {}

// The bytes of neighbors follow each other, so one call reads them.
void SampleReader::read(std::int64_t first, std::span<std::byte> samples) const {
  if (!encoded()) return stored_.read(first, samples);
  ensure(samples.size() % sample_bytes_ == 0, "whole samples are read");
  const auto count = static_cast<std::int64_t>(samples.size() / sample_bytes_);
  ensure(first >= 0 && first + count <= std::ssize(ends_), "samples within the split");
  const std::int64_t begin = encoded_begin(ends_, first);
  std::vector<std::byte> bytes(static_cast<std::size_t>(encoded_begin(ends_, first + count) - begin));
  stored_.read(begin, bytes);
  for (std::int64_t sample = first; sample < first + count; ++sample) {
    const auto from = static_cast<std::size_t>(encoded_begin(ends_, sample) - begin);
    const auto to = static_cast<std::size_t>(encoded_begin(ends_, sample + 1) - begin);
    const StoredPiece& piece = piece_of(samples_, sample);
    decode(std::span(bytes).subspan(from, to - from),
           fmt::format("{}: sample {}", piece.where(), sample - piece.first), shape_,
           samples.first(sample_bytes_));
    samples = samples.subspan(sample_bytes_);
  }
}

void SampleReader::will_need(std::int64_t first, std::int64_t count) const {
  if (!encoded()) return stored_.will_need(first, count);
  stored_.will_need(encoded_begin(ends_, first),
                    encoded_begin(ends_, first + count) - encoded_begin(ends_, first));
}

}  // namespace convoke::data

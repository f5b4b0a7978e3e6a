#include "sample_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/pictures/decode.hpp"

namespace convoke::data {
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

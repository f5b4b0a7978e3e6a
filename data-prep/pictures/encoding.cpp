#include "convoke/data_prep/pictures/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/pictures/decode.hpp"
#include "convoke/pictures/encode.hpp"

namespace convoke::data_prep {
namespace {

struct NamedEncoding {
  std::string_view name;
  Encoding::Kind kind;
  std::string_view mark;  // its files begin so
};
constexpr std::array kEncodings{NamedEncoding{"jpeg", Encoding::kJpeg, "\xFF\xD8"},
                                NamedEncoding{"png", Encoding::kPng, "\x89PNG"}};

bool is_encoded_as(Encoding::Kind kind, std::span<const std::byte> bytes) {
  return std::ranges::any_of(kEncodings, [&](const NamedEncoding& known) {
    const auto mark = std::as_bytes(std::span(known.mark));
    return known.kind == kind && bytes.size() >= mark.size() &&
           std::ranges::equal(bytes.first(mark.size()), mark);
  });
}

}  // namespace

std::string Encoding::to_string() const {
  ensure(kind != kNone, "the pictures are encoded");
  return kind == kPng ? "PNG" : fmt::format("JPEG of quality {}", jpeg_quality);
}

Encoding::Kind encoding_from(const std::string& name) {
  return name.empty() ? Encoding::kNone : find_in(kEncodings, name, "encoding").kind;
}

void require_encodable(const SampleFormat& format, const std::string& source) {
  if (format.type == data::SampleType::kUint8 && (format.shape[0] == 1 || format.shape[0] == 3)) return;
  throw Error(
      fmt::format("{}: its samples are {} of {}; only pictures of 8 bits in gray or RGB can be encoded",
                  source, data::name_of(format.type), format.shape.to_string()),
      "leave --encoded out");
}

std::vector<std::byte> encode(const Encoding& encoding, const Original& original, const std::string& name,
                              const Shape& shape, std::span<std::byte> sample) {
  if (is_encoded_as(encoding.kind, original.encoded) && original.encoded.size() <= sample.size())
    return original.encoded;
  const pictures::PictureSize size{shape[1], shape[2]};
  const std::span pixels(reinterpret_cast<const std::uint8_t*>(sample.data()), sample.size());
  const std::vector<std::uint8_t> made = encoding.kind == Encoding::kPng
                                             ? pictures::encode_png(pixels, size)
                                             : pictures::encode_jpeg(pixels, size, encoding.jpeg_quality);
  const auto bytes = std::as_bytes(std::span(made));
  const pictures::Image decoded = pictures::decode_picture(bytes, name, shape[0]);
  ensure(decoded.values.size() == sample.size(), "an encoded picture keeps its size");
  std::ranges::copy(std::as_bytes(std::span(decoded.values)), sample.begin());
  return {bytes.begin(), bytes.end()};
}

}  // namespace convoke::data_prep

#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/data_prep/sources/source.hpp"

namespace convoke::data_prep {

/// How a dataset stores its pictures.
struct Encoding {
  enum Kind {
    kNone,  ///< as pixels
    kPng,   ///< encoded, with the same pixels
    kJpeg,  ///< encoded, with similar pixels
  };
  Kind kind = kNone;
  int jpeg_quality = 90;  ///< 1 to 100

  explicit operator bool() const { return kind != kNone; }
  /// Returns "PNG" or "JPEG of quality 90".
  std::string to_string() const;
};

/// Parses "png" or "jpeg"; "" is kNone. Throws Error listing them.
Encoding::Kind encoding_from(const std::string& name);

/// Throws Error naming `source` unless its samples are pictures of 8 bits in gray or RGB.
void require_encodable(const SampleFormat& format, const std::string& source);

/// Returns the encoded sample, and replaces `sample`, (H, W, C) pixels, by those that decoding it gives. A
/// picture of the source that is encoded in this way, has the size of a sample and is no larger than its
/// pixels is kept as it is. `shape`: (C, H, W). `name` is for messages.
std::vector<std::byte> encode(const Encoding& encoding, const Original& original, const std::string& name,
                              const Shape& shape, std::span<std::byte> sample);

}  // namespace convoke::data_prep

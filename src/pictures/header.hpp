#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "convoke/pictures/image.hpp"

namespace convoke::pictures {

enum class PictureKind { kJpeg, kPng, kBmp };

/// The properties of an encoded picture that its header gives.
struct PictureHeader {
  PictureKind kind = PictureKind::kJpeg;
  PictureSize stored = {};      ///< as the rows are stored in the file
  std::int64_t components = 0;  ///< of a pixel after decoding: 1 gray, 2 with alpha, 3 RGB, 4 RGB with alpha
                                ///< or, in a JPEG, CMYK
  int orientation = 1;          ///< by EXIF
  bool whole = true;            ///< false: the file is truncated

  PictureSize upright() const;
  /// 1: gray, 3: color.
  std::int64_t channels() const { return components <= 2 ? 1 : 3; }
};

/// Reads the header and, where decoders do not, checks that the file is complete and (PNG) undamaged. Throws
/// Error naming `name` if it is not a JPEG, PNG or BMP, or has no valid header.
PictureHeader read_header(std::span<const std::uint8_t> encoded, const std::string& name);

}  // namespace convoke::pictures

#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// Turns encoded pictures (JPEG, PNG, BMP) into samples (H, W, C) of one size: decoded as Pillow does,
/// converted to grey or RGB, upright by EXIF, fitted. A picture that has the size already is stored as it is,
/// pixel for pixel. What the options leave open, size and channels, is learnt from the source's first
/// picture.
class PictureReader {
 public:
  /// Throws Error: an unknown fit, other channels than 0, 1 and 3, a negative size or one beyond 20,000.
  explicit PictureReader(PictureOptions options);

  /// For a source's constructor: learns what is open from the first item without a fault that is a picture.
  /// `encoded` loads an item's bytes and may throw Error. Throws what the first item's error was if none is.
  void learn(const Catalogue& catalogue,
             const std::function<std::vector<std::byte>(std::size_t item)>& encoded);

  /// As networks see the samples, and how to turn a raw picture into one:
  /// {"kind":"picture","fit":"area","height":224,"width":224,"channels":3}. After learn.
  SampleFormat format() const;

  /// After learn. `name` is what messages call the picture; `sample` takes height x width x channels bytes.
  /// Throws Error if it cannot be decoded, is too large, or, where no size was given, is not of the first
  /// one's.
  Original read(std::span<const std::byte> encoded, const std::string& name,
                std::span<std::byte> sample) const;

 private:
  void learn(std::span<const std::byte> encoded, const std::string& name);

  PictureOptions options_;
  std::string example_ = {};  // the picture whose size all must have; empty: a size was given
};

/// The options that a preparation of kind "picture" states (SampleFormat::preparation), for pictures that
/// come later. Throws Error beginning with `where` if it is of another kind or damaged.
PictureOptions picture_options(const std::string& preparation, const std::string& where);

}  // namespace convoke::data_prep

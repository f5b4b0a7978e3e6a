#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// Turns encoded pictures (JPEG, PNG, BMP) into samples (H, W, C) of one size: decodes as Pillow does,
/// converts to gray or RGB, turns upright by EXIF, and fits. A picture that already has the size is stored
/// unchanged. If the options do not give size and channels, they come from the source's first picture.
class PictureReader {
 public:
  /// Throws Error for an unknown fit, channels other than 0, 1 and 3, or a size that is negative or above
  /// 20,000.
  explicit PictureReader(PictureOptions options);

  /// For a source's constructor: takes missing options from the first item without a fault that is a picture.
  /// `encoded` loads an item's bytes and may throw Error. Adds what it took to the assumptions. If there is
  /// no picture, throws Error with the reasons of the first items.
  void learn(Catalog& catalog, const std::function<std::vector<std::byte>(std::size_t item)>& encoded);

  /// Returns the samples' shape as networks see it, and how to turn a raw picture into a sample:
  /// {"kind":"picture","fit":"area","height":224,"width":224,"channels":3}. Call learn() first.
  SampleFormat format() const;

  /// Decodes and fits a picture. Call learn() first. `name` names the picture in messages; `sample` has
  /// height x width x channels bytes. Throws Error if the picture cannot be decoded, is too large, or, if no
  /// size was given, differs in size from the first one.
  Original read(std::span<const std::byte> encoded, const std::string& name,
                std::span<std::byte> sample) const;

 private:
  void learn(std::span<const std::byte> encoded, const std::string& name,
             std::vector<Assumption>& assumptions);

  PictureOptions options_;
  std::string example_ = {};  // the picture that sets the size; empty: a size was given
};

/// Returns the options in a preparation of kind "picture" (SampleFormat::preparation), for pictures that come
/// later. Throws Error beginning with `where` if it has another kind or is damaged.
PictureOptions picture_options(const std::string& preparation, const std::string& where);

}  // namespace convoke::data_prep

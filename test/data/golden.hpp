#pragma once
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/data/warp.hpp"
#include "convoke/hdf5/file.hpp"
#include "support/source_path.hpp"

// Values that other libraries computed: test/data/files/make_augment.py.
namespace golden {

inline convoke::hdf5::File file() {
  return convoke::hdf5::File::open(source_path("test/data/files/augment.h5"));
}

/// Returns (N, H, W, C) floats.
inline std::vector<float> values(const std::string& name) { return file().read<float>(name); }

/// The image that all values were made from, (H, W, C).
struct Picture {
  std::vector<std::uint8_t> pixels;
  convoke::data::ImageView<std::uint8_t> view;

  explicit Picture(const std::string& name) : pixels(file().read<std::uint8_t>(name)) {
    view = name == "square" ? convoke::data::ImageView<std::uint8_t>{pixels.data(), 12, 12, 3}
                            : convoke::data::ImageView<std::uint8_t>{pixels.data(), 9, 14, 1};
  }
};

/// Converts (C, H, W) to (H, W, C).
inline std::vector<float> channels_last(const std::vector<float>& planes, std::size_t channels) {
  std::vector<float> out(planes.size());
  const std::size_t pixels = planes.size() / channels;
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t p = 0; p < pixels; ++p) out[p * channels + c] = planes[c * pixels + p];
  return out;
}

/// Returns the largest difference between `values` and entry `index` of the list `name`.
inline double difference(const std::vector<float>& values, const std::string& name, std::size_t index) {
  const std::vector<float> expected = golden::values(name);
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(values[i]) -
                                         static_cast<double>(expected.at(index * values.size() + i))));
  return largest;
}

}  // namespace golden

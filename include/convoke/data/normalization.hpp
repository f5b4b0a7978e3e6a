#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"

namespace convoke::data {

/// Turns stored values into a network's input, per channel of an image or per feature: (value - mean) /
/// standard deviation. Empty for tokens, which are not normalized.
struct Normalization {
  std::vector<float> scale;  ///< channel_count of them: input = value * scale + shift, by stored channel
  std::vector<float> shift;
  bool reversed = false;  ///< the network takes an image's channels in reverse order: BGR of stored RGB

  /// Returns the place in the network's input of the stored channel `c`.
  std::size_t place(std::size_t c) const { return reversed ? scale.size() - 1 - c : c; }

  friend bool operator==(const Normalization&, const Normalization&) = default;
};

/// Returns the names of all normalizations:
///
///     "unit"         x / 255, for 8-bit images
///     "standard"     (x - mean) / standard deviation of each channel or feature of the training split
///     "none"         as stored; the only one for tokens
///     "imagenet"     (x / 255 - mean) / standard deviation of ImageNet's channels: torchvision's weights
///     "keras-tf"     x / 127.5 - 1: Keras' `preprocess_input` with mode "tf"
///     "keras-caffe"  BGR - [103.939, 116.779, 123.68]: Keras' `preprocess_input` with mode "caffe"
///
/// The last three are for 8-bit images of three channels.
std::vector<std::string> normalization_names();

/// Returns the normalization called `name`. Throws Error listing the known names or saying what the dataset
/// lacks; `where` is the dataset's file, for messages.
Normalization normalization_from(const std::string& name, const DatasetInfo& info,
                                 const std::string& where = "the dataset");

/// Mean and standard deviation of each channel (the last axis) of samples that arrive in pieces of whole
/// pixels.
class ChannelStatistics {
 public:
  explicit ChannelStatistics(std::size_t channels);

  /// values: (pixels, channels). Exact for up to 2^48 pixels of 8 bits.
  void add(std::span<const std::uint8_t> values);
  void add(std::span<const float> values);

  std::vector<double> mean() const;
  /// Returns the standard deviation of the population: the divisor is n.
  std::vector<double> deviation() const;

 private:
  struct Sums {
    std::uint64_t sum = 0, squares = 0;  // of 8-bit values
  };

  std::size_t channels_;
  double pixels_ = 0;
  std::vector<Sums> sums_;             // of uint8; not used for floats
  std::vector<double> mean_, spread_;  // of floats: mean, and sum of squared differences from it
  bool exact_ = false;
};

}  // namespace convoke::data

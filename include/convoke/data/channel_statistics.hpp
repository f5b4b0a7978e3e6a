#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace convoke::data {

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

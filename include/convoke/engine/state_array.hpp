#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "convoke/core/random.hpp"
#include "convoke/sync/bfloat16.hpp"

namespace convoke::engine {

/// The random numbers of stochastic rounding (Gupta et al., "Deep learning with limited numerical precision",
/// ICML 2015): a value is rounded up with the probability of its distance from the number below, so its
/// expected value stays what it was. They depend on the seed, the step, the array and the element.
struct StochasticRounding {
  PhiloxKey key;            ///< of the seed and the step
  std::uint32_t array = 0;  ///< number of the array
};

/// A view of an array of parameters or of an optimizer's state, which is stored in fp32 or in bf16, and read
/// and written in fp32.
class StateArray {
 public:
  explicit StateArray(std::span<float> values) : floats_(values) {}
  explicit StateArray(std::span<sync::Bfloat16> values) : halves_(values) {}

  std::size_t size() const { return floats_.size() + halves_.size(); }
  std::size_t bytes() const { return floats_.size_bytes() + halves_.size_bytes(); }
  /// Returns the array itself if it is in fp32; empty if it is in bf16.
  std::span<float> floats() const { return floats_; }

  /// Copies the elements from `first` on to `values`.
  void read(std::size_t first, std::span<float> values) const;
  /// Copies `values` to the elements from `first` on, rounded to the nearest number.
  void write(std::size_t first, std::span<const float> values) const;
  /// Does the same with stochastic rounding, if the array is in bf16.
  void write(std::size_t first, std::span<const float> values, const StochasticRounding& rounding) const;
  void set_to_zero() const;
  /// True if none of `count` elements from `first` on is infinite or NaN.
  bool finite(std::size_t first, std::size_t count) const;

 private:
  std::span<float> floats_;
  std::span<sync::Bfloat16> halves_;
};

}  // namespace convoke::engine

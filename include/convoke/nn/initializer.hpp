#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/core/random.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/core/shape.hpp"

namespace convoke::nn {

/// The start values of a parameter: a rule of the table in src/nn/initializer.cpp and its options. Names and
/// defaults are those of Keras and PyTorch:
///   zeros, ones, constant                       `value` (0)
///   uniform (random_uniform)                    in [`minval` (-0.05), `maxval` (0.05))
///   normal (random_normal)                      `mean` (0), `stddev` (0.05)
///   truncated_normal (trunc_normal)             as normal; values beyond two standard deviations are redrawn
///   glorot_uniform (xavier_uniform)             `gain` (1); variance gain^2 * 2 / (fan_in + fan_out)
///   glorot_normal, xavier_normal                same variance; Keras truncates, PyTorch does not
///   he_uniform, he_normal                       variance 2 / fan_in; normal truncated
///   lecun_uniform, lecun_normal                 variance 1 / fan_in; normal truncated
///   kaiming_uniform (torch_default)             `a` (sqrt 5), `mode` ("fan_in" or "fan_out"): variance
///                                               2 / ((1 + a^2) fan). The defaults are those of
///                                               PyTorch's layers: |w| < 1 / sqrt(fan_in)
///   kaiming_normal                              `a` (0), `mode`; not truncated
///   orthogonal                                  `gain` (1); rows of the matrix (O, rest), or its columns
///                                               if they are fewer, are orthogonal, of length gain
class Initializer {
 public:
  /// Throws Error with the nearest name if there is no such initializer.
  Initializer(std::string_view name = "zeros");  // NOLINT: `.initializer = "he_normal"`
  Initializer(const char* name) : Initializer(std::string_view(name)) {}  // NOLINT
  /// Reads a name and options. Throws Error for an unknown name or option, or a value out of range.
  explicit Initializer(const Settings& settings);

  static const Initializer kZeros, kOnes, kGlorotUniform;

  /// Returns the name, or a table with the options if one is not at its default.
  Value write() const;

  /// Fills `values` (shape.elements(), canonical layout) with the numbers at `key`. `fan_in` and `fan_out`
  /// are the numbers of inputs and outputs that one weight row sees.
  void fill(const Shape& shape, std::int64_t fan_in, std::int64_t fan_out, const RandomKey& key,
            std::span<float> values) const;

  friend bool operator==(const Initializer& a, const Initializer& b) { return a.settings_ == b.settings_; }

 private:
  Settings settings_;  ///< the name, then each of its options
};

/// The start values of a layer's weights and biases: `initializer` and `bias_initializer` in recipes.
struct Initializers {
  Initializer weight = Initializer::kGlorotUniform;
  Initializer bias = Initializer::kZeros;
};

}  // namespace convoke::nn

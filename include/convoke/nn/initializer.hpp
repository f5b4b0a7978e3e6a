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

/// How a parameter starts: a rule of the table in src/nn/initializer.cpp and its options. Names and defaults
/// are Keras' and PyTorch's:
///   zeros, ones, constant                       `value` (0)
///   uniform (random_uniform)                    in [`minval` (-0.05), `maxval` (0.05))
///   normal (random_normal)                      `mean` (0), `stddev` (0.05)
///   truncated_normal (trunc_normal)             the same, drawn again beyond two standard deviations
///   glorot_uniform (xavier_uniform)             `gain` (1); variance gain^2 * 2 / (fan_in + fan_out)
///   glorot_normal, xavier_normal                the same; Keras truncates, PyTorch does not
///   he_uniform, he_normal                       variance 2 / fan_in; normal truncated
///   lecun_uniform, lecun_normal                 variance 1 / fan_in; normal truncated
///   kaiming_uniform (torch_default)             `a` (sqrt 5), `mode` ("fan_in" or "fan_out"): variance
///                                               2 / ((1 + a^2) fan). As it is, PyTorch's start of
///                                               weights and biases: within 1 / sqrt(fan_in)
///   kaiming_normal                              `a` (0), `mode`; not truncated
///   orthogonal                                  `gain` (1); rows of the matrix (O, rest), or its columns
///                                               if they are fewer, are orthogonal, of length gain
class Initializer {
 public:
  /// Throws Error with the nearest name if there is no such initializer.
  Initializer(std::string_view name = "zeros");  // NOLINT: `.initializer = "he_normal"`
  Initializer(const char* name) : Initializer(std::string_view(name)) {}  // NOLINT
  /// With options. Throws Error for an unknown name or option, or one out of its range.
  explicit Initializer(const Settings& settings);

  static const Initializer kZeros, kOnes, kGlorotUniform;

  /// The name, or the table with the options if one is not at its default.
  Value write() const;

  /// Fills `values` (shape.elements(), canonical) with the numbers at `key`. `fan_in`, `fan_out`: inputs and
  /// outputs that one weight row sees.
  void fill(const Shape& shape, std::int64_t fan_in, std::int64_t fan_out, const RandomKey& key,
            std::span<float> values) const;

  friend bool operator==(const Initializer& a, const Initializer& b) { return a.settings_ == b.settings_; }

 private:
  Settings settings_;  ///< the name, then every option of it
};

/// How the weights and biases of a layer start: `initializer` and `bias_initializer` in recipes.
struct Initializers {
  Initializer weight = Initializer::kGlorotUniform;
  Initializer bias = Initializer::kZeros;

  /// Adds the keys to a layer's settings, each only if it is not at its default.
  void write(Settings& settings) const;
};

}  // namespace convoke::nn

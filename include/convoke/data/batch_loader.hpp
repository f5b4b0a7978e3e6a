#pragma once
#include <cstdint>
#include <span>

#include "convoke/data/dataset.hpp"
#include "convoke/data/normalization.hpp"

namespace convoke::data {

/// Assembles lanes: gathers samples by id; numbers become floats, are normalised, and images turned from (H,
/// W, C) into (C, H, W); tokens stay as they are. Stateless and const: any number of threads may use one
/// loader.
class BatchLoader {
 public:
  /// `sample_shape`: as networks see it. `normalization`: one scale and shift per channel or feature; none
  /// for tokens.
  BatchLoader(Split split, Shape sample_shape, Normalization normalization);

  /// Of uint8 and float32. samples: (n, C, H, W), (n, L, F) or (n, F) floats; labels: n, may be empty. Sizes
  /// follow from ids.
  void load(std::span<const std::uint32_t> ids, std::span<float> samples,
            std::span<std::int32_t> labels) const;

  /// Of int32. tokens: (n, L); labels: n, may be empty.
  void load_tokens(std::span<const std::uint32_t> ids, std::span<std::int32_t> tokens,
                   std::span<std::int32_t> labels) const;

  /// What each sample counts in the loss: n; 1 where the dataset has no weights.
  void load_weights(std::span<const std::uint32_t> ids, std::span<float> weights) const;

  const Split& split() const { return split_; }
  /// kInt32: load_tokens() is to be called, else load().
  SampleType sample_type() const { return split_.type(); }

 private:
  void load_labels(std::span<const std::uint32_t> ids, std::span<std::int32_t> labels) const;

  Split split_;
  Shape shape_;
  Normalization normalization_;
};

}  // namespace convoke::data

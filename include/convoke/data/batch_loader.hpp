#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "convoke/data/augmenter.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/data/normalization.hpp"

namespace convoke::data {

/// Assembles lanes: gathers samples by id; numbers become floats, are normalised, and images turned from (H,
/// W, C) into (C, H, W) and, for training, augmented; tokens stay as they are. Stateless and const: any
/// number of threads may use one loader.
class BatchLoader {
 public:
  /// `sample_shape`: as networks see it. `normalization`: one scale and shift per channel or feature; none
  /// for tokens. `augmenter`: of images; null: views are the samples themselves.
  BatchLoader(Split split, Shape sample_shape, Normalization normalization,
              std::shared_ptr<const Augmenter> augmenter = nullptr);

  /// The same loader, whose load() without a view gives this one. Not mixed.
  BatchLoader in_view(const ViewKey& view) const;

  /// Of uint8 and float32, as they are. samples: (n, C, H, W), (n, L, F) or (n, F) floats; labels: n, may be
  /// empty. Sizes follow from ids.
  void load(std::span<const std::uint32_t> ids, std::span<float> samples,
            std::span<std::int32_t> labels) const;

  /// The same samples as an epoch of training sees them: augmented and, if mixes(), mixed.
  void load(std::span<const std::uint32_t> ids, std::span<float> samples, const Targets& targets,
            const ViewKey& view) const;
  /// A training step needs second labels.
  bool mixes() const { return augmenter_ != nullptr && augmenter_->mixes(); }

  /// Of int32. tokens: (n, L); labels: n, may be empty.
  void load_tokens(std::span<const std::uint32_t> ids, std::span<std::int32_t> tokens,
                   std::span<std::int32_t> labels) const;

  /// What each sample counts in the loss: n; 1 where the dataset has no weights.
  void load_weights(std::span<const std::uint32_t> ids, std::span<float> weights) const;

  const Split& split() const { return split_; }
  /// kInt32: load_tokens() is to be called, else load().
  SampleType sample_type() const { return split_.type(); }

 private:
  void load_pictures(std::span<const std::uint32_t> ids, std::span<float> samples, const ViewKey* view) const;
  void load_labels(std::span<const std::uint32_t> ids, std::span<std::int32_t> labels) const;

  Split split_;
  Shape shape_;
  Normalization normalization_;
  std::shared_ptr<const Augmenter> augmenter_;
  std::optional<ViewKey> view_;  // of load() without one
};

}  // namespace convoke::data

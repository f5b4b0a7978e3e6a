#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/data/augment_options.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/data/normalization.hpp"
#include "convoke/data/samples.hpp"

namespace convoke::data {

/// Identifies a view of a sample. Together with the sample's number it determines every random number of
/// augmentation, on any rank and thread.
struct ViewKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::int64_t micro_batch = 0;  ///< size of a micro-batch, whose samples may be mixed; 0: no mixing
  /// For each loaded sample: how often the epoch has used it before, so that each use looks different. Empty:
  /// each sample is used once.
  std::span<const std::uint32_t> repeats = {};

  /// The number in the epoch of the `i`-th loaded sample, whose id is `id`.
  std::uint64_t sample(std::size_t i, std::uint32_t id) const {
    return repeats.empty() ? id : std::uint64_t{repeats[i]} << 33 | id;
  }
};

/// The labels of n samples, as the loss uses them.
struct Targets {
  std::span<std::int32_t> labels;  ///< (n); empty: not wanted
  /// For mixed samples, (n) each, else empty: `labels` has the share `share`, any number in 0..1, and
  /// `second` the rest.
  std::span<std::int32_t> second = {};
  std::span<float> share = {};
  /// (n), or empty: on entry the weight of each sample, which mixing moves to where `second` has its label
  std::span<float> second_weights = {};
};

/// Turns stored images into what a network sees in a view: moved, recolored, partly erased, mixed.
/// Immutable; any number of threads may use it.
class Augmenter {
 public:
  /// `sample_shape`: (C, H, W). Throws Error if the samples are not images, if colors are to change in images
  /// that are not of 8 bits, or if 8-bit images are to be filled with a value outside 0..255.
  Augmenter(AugmentOptions options, const Shape& sample_shape, SampleType type);

  /// Computes the view of sample number `sample` (ViewKey::sample), stored as `image` (H, W, C): normalized,
  /// (C, H, W) in the order of channels that the network takes. T: std::uint8_t or float.
  template <class T>
  void picture(const T* image, const ViewKey& view, std::uint64_t sample, const Normalization& normalization,
               float* out) const;

  /// True if samples are mixed when a view has micro-batches.
  bool mixes() const { return options_.mixes(); }
  /// Mixes pictures (n, C, H, W) of the samples `ids` within each micro-batch: the first with the last, the
  /// second with the last but one, and so on; the middle one stays. `targets` holds their labels.
  void mix(const ViewKey& view, std::span<const std::uint32_t> ids, std::span<float> pictures,
           const Targets& targets) const;

  const AugmentOptions& options() const { return options_; }

 private:
  AugmentOptions options_;
  Shape shape_;
  std::vector<float> one_, zero_;  // per channel
};

/// Returns the part of `options` that applies to a view of a test sample: without erasing and mixing.
AugmentOptions for_testing(AugmentOptions options);

/// Returns what a network sees of 8-bit images in a view, as pixels to be shown: (n, H, W, C) before
/// normalization, rounded; mixed if the view has micro-batches. `sample_shape`: (C, H, W).
std::vector<std::uint8_t> augmented_pictures(const Split& split, const Shape& sample_shape,
                                             std::shared_ptr<const Augmenter> augmenter,
                                             std::span<const std::uint32_t> ids, const ViewKey& view);

}  // namespace convoke::data

#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/core/shape.hpp"
#include "convoke/data/augment_options.hpp"
#include "convoke/data/normalization.hpp"
#include "convoke/data/samples.hpp"

namespace convoke::data {

/// Which of a sample's views is meant. Together with the sample's number it decides every random number of
/// augmentation, whoever computes it.
struct ViewKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::int64_t lane = 0;  ///< samples of which neighbours may be mixed with each other; 0: none are
  /// Of each sample that is loaded, how often the epoch has had it before: it looks different every time.
  /// Empty: never.
  std::span<const std::uint32_t> repeats = {};

  /// Which sample of the epoch the `i`-th is that is loaded, of id `id`.
  std::uint64_t sample(std::size_t i, std::uint32_t id) const {
    return repeats.empty() ? id : std::uint64_t{repeats[i]} << 33 | id;
  }
};

/// What n samples are to the loss.
struct Targets {
  std::span<std::int32_t> labels;  ///< (n); empty: not wanted
  /// Of mixed samples, (n) each, else empty: `labels` counts `share`, which may be any of 0..1, and `second`
  /// the rest.
  std::span<std::int32_t> second = {};
  std::span<float> share = {};
};

/// Makes of stored images what a network sees of them in a view: other positions, colours, gaps, mixtures.
/// Immutable and used by any number of threads.
class Augmenter {
 public:
  /// `sample_shape`: (C, H, W). Throws Error if samples are no images, or colours are to be changed of images
  /// that are not of 8 bits.
  Augmenter(AugmentOptions options, const Shape& sample_shape, SampleType type);

  /// Sample number `sample` (ViewKey::sample), stored as `image` (H, W, C), in a view: normalised, (C, H, W).
  void picture(const std::uint8_t* image, const ViewKey& view, std::uint64_t sample,
               const Normalization& normalization, float* out) const;
  void picture(const float* image, const ViewKey& view, std::uint64_t sample,
               const Normalization& normalization, float* out) const;

  /// Samples are mixed if a view has lanes.
  bool mixes() const { return options_.mixes(); }
  /// Mixes pictures (n, C, H, W) of the samples `ids` within each lane, the first with the last, the second
  /// with the last but one, and so on; the one in the middle stays. `targets` holds their labels.
  void mix(const ViewKey& view, std::span<const std::uint32_t> ids, std::span<float> pictures,
           const Targets& targets) const;

  const AugmentOptions& options() const { return options_; }

 private:
  template <class T>
  void make(const T* image, const ViewKey& view, std::uint64_t sample, const Normalization& normalization,
            float* out) const;

  AugmentOptions options_;
  Shape shape_;
  std::vector<float> one_, zero_;  // per channel
};

/// Those of `options` that a view of a test sample takes: without gaps and mixtures.
AugmentOptions for_testing(AugmentOptions options);

}  // namespace convoke::data

#pragma once
#include "augmentation.hpp"
#include "convoke/data/augmenter.hpp"

namespace convoke::data {

/// Mixes the samples of one lane in pairs, in place; see Augmenter::mix. Both samples of a pair get the same
/// share of the other, as in timm. `first`: the place of the lane's first sample among those that are loaded.
void mix_lane(const AugmentOptions& options, const Shape& image, const ViewKey& view, std::size_t first,
              std::span<const std::uint32_t> ids, std::span<float> pictures, const Targets& targets);

}  // namespace convoke::data

#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "convoke/data/augmenter.hpp"
#include "convoke/data/dataset.hpp"

namespace convoke::data {

/// Returns what a network sees of 8-bit images in a view, as pixels to be shown: (n, H, W, C) before
/// normalisation, rounded; mixed if the view has lanes (micro-batches). `sample_shape`: (C, H, W).
std::vector<std::uint8_t> augmented_pictures(const Split& split, const Shape& sample_shape,
                                             std::shared_ptr<const Augmenter> augmenter,
                                             std::span<const std::uint32_t> ids, const ViewKey& view);

}  // namespace convoke::data

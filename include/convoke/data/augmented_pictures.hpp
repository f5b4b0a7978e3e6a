#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "convoke/data/augmenter.hpp"
#include "convoke/data/dataset.hpp"

namespace convoke::data {

/// What a network sees of some 8-bit images in a view, to be looked at: pixels (n, H, W, C) before they are
/// normalised, rounded; mixed if the view has lanes. `sample_shape`: (C, H, W).
std::vector<std::uint8_t> augmented_pictures(const Split& split, const Shape& sample_shape,
                                             std::shared_ptr<const Augmenter> augmenter,
                                             std::span<const std::uint32_t> ids, const ViewKey& view);

}  // namespace convoke::data

#pragma once
#include "augmentation.hpp"

// Augmentations that move pixels; see AugmentOptions.

namespace convoke::data {

/// A crop of another size, stretched to the image's, or of the same size, moved.
bool wants_crop(const AugmentOptions& options);
void draw_crop(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change);

/// Rotation, shifts, shear and zoom, as Keras's ImageDataGenerator draws and composes them.
bool wants_affine(const AugmentOptions& options);
void draw_affine(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change);

bool wants_flip(const AugmentOptions& options);
void draw_flip(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change);

}  // namespace convoke::data

#pragma once
#include "augmentation.hpp"

// Changes of colour, in place, of values 0..255 that stay there. Without another word, as torchvision's
// functional operations on float images; an image of another number of channels than 3 is grey in each.

namespace convoke::data {

bool wants_colour(const AugmentOptions& options);
void draw_colour(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change);

/// v amount.
void adjust_brightness(const Planes& image, float amount);
/// amount v + (1 - amount) m, m the mean of the grey image.
void adjust_contrast(const Planes& image, float amount);
/// amount v + (1 - amount) grey; nothing to a grey image.
void adjust_saturation(const Planes& image, float amount);
/// Turns the hue by `amount` of a circle; nothing to a grey image.
void adjust_hue(const Planes& image, float amount);
/// v + amount, within the least and the largest value of the image: Keras's apply_channel_shift.
void shift_channels(const Planes& image, float amount);

/// amount v + (1 - amount) smoothed, inside the border.
void adjust_sharpness(const Planes& image, float amount);
/// The `amount` highest bits of 8.
void posterize(const Planes& image, float amount);
/// 255 - v from `amount` on.
void solarize(const Planes& image, float amount);
/// Each channel stretched over 0..255.
void autocontrast(const Planes& image, float amount);
/// Each channel's histogram made even, of rounded values; as Pillow.
void equalize(const Planes& image, float amount);

/// out = scale[c] v + shift[c], in place.
void normalise(const Planes& image, const float* scale, const float* shift);

}  // namespace convoke::data

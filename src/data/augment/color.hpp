#pragma once
#include "augmentation.hpp"

// Changes of color, in place; values stay in 0..255. Unless a comment says otherwise, they equal
// torchvision's functional operations on float images. An image without exactly 3 channels is gray in each
// channel.

namespace convoke::data {

bool wants_color(const AugmentOptions& options);
void draw_color(const AugmentOptions& options, const Shape& image, RandomStream& random, Change& change);

/// v amount.
void adjust_brightness(const Planes& image, float amount);
/// amount v + (1 - amount) m, m the mean of the gray image.
void adjust_contrast(const Planes& image, float amount);
/// amount v + (1 - amount) gray; does not change a gray image.
void adjust_saturation(const Planes& image, float amount);
/// Turns the hue by `amount` of a circle; does not change a gray image.
void adjust_hue(const Planes& image, float amount);
/// v + amount, within the smallest and the largest value of the image: Keras's apply_channel_shift.
void shift_channels(const Planes& image, float amount);

/// amount v + (1 - amount) smoothed; the border does not change.
void adjust_sharpness(const Planes& image, float amount);
/// Keeps the `amount` highest bits of 8.
void posterize(const Planes& image, float amount);
/// 255 - v for v >= `amount`.
void solarize(const Planes& image, float amount);
/// Stretches each channel over 0..255.
void autocontrast(const Planes& image, float amount);
/// Equalizes each channel's histogram of rounded values, as Pillow.
void equalize(const Planes& image, float amount);

/// out = scale[c] v + shift[c], in place.
void normalize(const Planes& image, const float* scale, const float* shift);

}  // namespace convoke::data

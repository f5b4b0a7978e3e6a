#include "convoke/data/batch_loader.hpp"

#include <algorithm>
#include <cassert>

#include "convoke/core/multiversion.hpp"

namespace convoke::data {
namespace {

// The loops, for values of either type T; below they are compiled for several instruction sets.

//   out[i] = scale x[i] + shift                          x, out: (n)
template <class T>
[[gnu::always_inline]] inline void convert_plane(const T* __restrict x, float* __restrict out, std::size_t n,
                                                 float scale, float shift) {
  for (std::size_t i = 0; i < n; ++i) out[i] = scale * static_cast<float>(x[i]) + shift;
}

//   out[c][p] = scale[c] x[p][c] + shift[c]              x: (pixels, 3), out: (3, pixels)
template <class T>
[[gnu::always_inline]] inline void convert_three(const T* __restrict x, float* __restrict out,
                                                 std::size_t pixels, const float* scale, const float* shift) {
  const float a0 = scale[0], a1 = scale[1], a2 = scale[2];
  const float b0 = shift[0], b1 = shift[1], b2 = shift[2];
  for (std::size_t p = 0; p < pixels; ++p) {
    out[p] = a0 * static_cast<float>(x[3 * p]) + b0;
    out[pixels + p] = a1 * static_cast<float>(x[3 * p + 1]) + b1;
    out[2 * pixels + p] = a2 * static_cast<float>(x[3 * p + 2]) + b2;
  }
}

//   out[p] = scale x[p][c] + shift                       one channel of any number, x: (pixels, channels)
template <class T>
[[gnu::always_inline]] inline void convert_one_of(const T* __restrict x, float* __restrict out,
                                                  std::size_t pixels, std::size_t channels, float scale,
                                                  float shift) {
  for (std::size_t p = 0; p < pixels; ++p) out[p] = scale * static_cast<float>(x[p * channels]) + shift;
}

CONVOKE_MULTIVERSION
void convert(const std::uint8_t* x, float* out, std::size_t n, float scale, float shift) {
  convert_plane(x, out, n, scale, shift);
}
CONVOKE_MULTIVERSION
void convert(const float* x, float* out, std::size_t n, float scale, float shift) {
  convert_plane(x, out, n, scale, shift);
}
CONVOKE_MULTIVERSION
void convert3(const std::uint8_t* x, float* out, std::size_t pixels, const float* scale, const float* shift) {
  convert_three(x, out, pixels, scale, shift);
}
CONVOKE_MULTIVERSION
void convert3(const float* x, float* out, std::size_t pixels, const float* scale, const float* shift) {
  convert_three(x, out, pixels, scale, shift);
}
CONVOKE_MULTIVERSION
void convert_channel(const std::uint8_t* x, float* out, std::size_t pixels, std::size_t channels, float scale,
                     float shift) {
  convert_one_of(x, out, pixels, channels, scale, shift);
}
CONVOKE_MULTIVERSION
void convert_channel(const float* x, float* out, std::size_t pixels, std::size_t channels, float scale,
                     float shift) {
  convert_one_of(x, out, pixels, channels, scale, shift);
}

//   out[r][f] = scale[f] x[r][f] + shift[f]              x, out: (rows, features)
CONVOKE_MULTIVERSION
void convert_features(const float* __restrict x, float* __restrict out, std::size_t rows,
                      std::size_t features, const float* __restrict scale, const float* __restrict shift) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t f = 0; f < features; ++f) {
      out[r * features + f] = scale[f] * x[r * features + f] + shift[f];
    }
  }
}

// (H, W, C) -> (C, H, W)
template <class T>
void convert_image(const T* in, float* out, std::size_t pixels, const Normalization& normalization) {
  const std::size_t channels = normalization.scale.size();
  const float* const scale = normalization.scale.data();
  const float* const shift = normalization.shift.data();
  if (channels == 1) {  // (H, W, 1) and (1, H, W) are the same
    convert(in, out, pixels, scale[0], shift[0]);
  } else if (channels == 3) {
    convert3(in, out, pixels, scale, shift);
  } else {
    for (std::size_t c = 0; c < channels; ++c) {
      convert_channel(in + c, out + c * pixels, pixels, channels, scale[c], shift[c]);
    }
  }
}

// Sample ids[i] of `stored` to `out` + i * size, by convert_one(in, out).
template <class T, class Convert>
void gather(std::span<const T> stored, std::span<const std::uint32_t> ids, std::size_t size, float* out,
            Convert convert_one) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    assert((ids[i] + std::size_t{1}) * size <= stored.size());
    convert_one(stored.data() + ids[i] * size, out + i * size);
  }
}

}  // namespace

BatchLoader::BatchLoader(Split split, Shape sample_shape, Normalization normalization)
    : split_(split), shape_(std::move(sample_shape)), normalization_(std::move(normalization)) {
  assert(may_have_rank(split_.type(), shape_.rank()));
  assert(values_in(split_.samples) == split_.labels.size() * static_cast<std::size_t>(shape_.elements()));
  assert(split_.weights.empty() || split_.weights.size() == split_.labels.size());
  assert(normalization_.scale.size() == static_cast<std::size_t>(channel_count(split_.type(), shape_)));
  assert(normalization_.shift.size() == normalization_.scale.size());
}

void BatchLoader::load(std::span<const std::uint32_t> ids, std::span<float> samples,
                       std::span<std::int32_t> labels) const {
  const auto size = static_cast<std::size_t>(shape_.elements());
  const std::size_t channels = normalization_.scale.size();
  assert(split_.type() != SampleType::kInt32 && samples.size() >= ids.size() * size);
  const auto image = [&](const auto* in, float* out) {
    convert_image(in, out, size / channels, normalization_);
  };
  const auto features = [&](const float* in, float* out) {
    convert_features(in, out, size / channels, channels, normalization_.scale.data(),
                     normalization_.shift.data());
  };
  if (split_.type() == SampleType::kUint8) {
    gather(split_.values<std::uint8_t>(), ids, size, samples.data(), image);
  } else if (shape_.rank() == 3) {
    gather(split_.values<float>(), ids, size, samples.data(), image);
  } else {
    gather(split_.values<float>(), ids, size, samples.data(), features);
  }
  load_labels(ids, labels);
}

void BatchLoader::load_tokens(std::span<const std::uint32_t> ids, std::span<std::int32_t> tokens,
                              std::span<std::int32_t> labels) const {
  const std::span<const std::int32_t> stored = split_.values<std::int32_t>();
  const auto length = static_cast<std::size_t>(shape_.elements());
  assert(tokens.size() >= ids.size() * length);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    assert(ids[i] < split_.labels.size());
    std::copy_n(stored.data() + ids[i] * length, length, tokens.data() + i * length);
  }
  load_labels(ids, labels);
}

void BatchLoader::load_weights(std::span<const std::uint32_t> ids, std::span<float> weights) const {
  assert(weights.size() >= ids.size());
  if (split_.weights.empty()) {
    std::fill_n(weights.begin(), ids.size(), 1.0F);
    return;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) weights[i] = split_.weights[ids[i]];
}

void BatchLoader::load_labels(std::span<const std::uint32_t> ids, std::span<std::int32_t> labels) const {
  assert(labels.empty() || labels.size() >= ids.size());
  for (std::size_t i = 0; !labels.empty() && i < ids.size(); ++i) labels[i] = split_.labels[ids[i]];
}

}  // namespace convoke::data

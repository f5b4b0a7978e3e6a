#include "convoke/data/batch_loader.hpp"

#include <array>
#include <cassert>

#include "convoke/core/multiversion.hpp"
#include "convoke/core/table.hpp"

namespace convoke::data {
namespace {

Normalization unit(const DatasetInfo& info) {
  const auto channels = static_cast<std::size_t>(info.sample_shape[0]);
  return {std::vector<float>(channels, 1.0F / 255.0F), std::vector<float>(channels, 0.0F)};
}

// (x - mean) / std; a channel that never varies is only shifted.
Normalization standard(const DatasetInfo& info) {
  Normalization normalization;
  for (std::size_t c = 0; c < info.channel_mean.size(); ++c) {
    const double scale = info.channel_std[c] > 0 ? 1.0 / info.channel_std[c] : 1.0;
    normalization.scale.push_back(static_cast<float>(scale));
    normalization.shift.push_back(static_cast<float>(-info.channel_mean[c] * scale));
  }
  return normalization;
}

Normalization none(const DatasetInfo& info) {
  const auto channels = static_cast<std::size_t>(info.sample_shape[0]);
  return {std::vector<float>(channels, 1.0F), std::vector<float>(channels, 0.0F)};
}

struct NormalizationEntry {
  std::string_view name;
  Normalization (*make)(const DatasetInfo&);
};
constexpr std::array kNormalizations{NormalizationEntry{"unit", unit},
                                     NormalizationEntry{"standard", standard},
                                     NormalizationEntry{"none", none}};

//   out[i] = scale x[i] + shift                          x: (n) bytes, out: (n)
CONVOKE_MULTIVERSION
void convert(const std::uint8_t* __restrict x, float* __restrict out, std::size_t n, float scale,
             float shift) {
  for (std::size_t i = 0; i < n; ++i) out[i] = scale * static_cast<float>(x[i]) + shift;
}

//   out[c][p] = scale[c] x[p][c] + shift[c]              x: (pixels, 3) bytes, out: (3, pixels)
CONVOKE_MULTIVERSION
void convert3(const std::uint8_t* __restrict x, float* __restrict out, std::size_t pixels, const float* scale,
              const float* shift) {
  const float a0 = scale[0], a1 = scale[1], a2 = scale[2];
  const float b0 = shift[0], b1 = shift[1], b2 = shift[2];
  for (std::size_t p = 0; p < pixels; ++p) {
    out[p] = a0 * static_cast<float>(x[3 * p]) + b0;
    out[pixels + p] = a1 * static_cast<float>(x[3 * p + 1]) + b1;
    out[2 * pixels + p] = a2 * static_cast<float>(x[3 * p + 2]) + b2;
  }
}

//   out[p] = scale x[p][c] + shift                       one channel of any number, x: (pixels, channels)
//   bytes
CONVOKE_MULTIVERSION
void convert_channel(const std::uint8_t* __restrict x, float* __restrict out, std::size_t pixels,
                     std::size_t channels, float scale, float shift) {
  for (std::size_t p = 0; p < pixels; ++p) out[p] = scale * static_cast<float>(x[p * channels]) + shift;
}

}  // namespace

Normalization normalization_from(const std::string& name, const DatasetInfo& info) {
  return find_in(kNormalizations, name, "normalisation").make(info);
}

BatchLoader::BatchLoader(Split split, Shape sample_shape, Normalization normalization)
    : split_(split), shape_(std::move(sample_shape)), normalization_(std::move(normalization)) {
  assert(shape_.rank() == 3);
  assert(split_.samples.size() == split_.labels.size() * static_cast<std::size_t>(shape_.elements()));
  assert(normalization_.scale.size() == static_cast<std::size_t>(shape_[0]));
  assert(normalization_.shift.size() == static_cast<std::size_t>(shape_[0]));
}

void BatchLoader::load(std::span<const std::uint32_t> ids, std::span<float> samples,
                       std::span<std::int32_t> labels) const {
  const auto channels = static_cast<std::size_t>(shape_[0]);
  const auto sample_size = static_cast<std::size_t>(shape_.elements());
  const std::size_t pixels = sample_size / channels;
  const float* const scale = normalization_.scale.data();
  const float* const shift = normalization_.shift.data();
  assert(samples.size() >= ids.size() * sample_size && (labels.empty() || labels.size() >= ids.size()));

  for (std::size_t i = 0; i < ids.size(); ++i) {
    assert(ids[i] < split_.labels.size());
    const std::uint8_t* const in = split_.samples.data() + ids[i] * sample_size;
    float* const out = samples.data() + i * sample_size;
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
  for (std::size_t i = 0; !labels.empty() && i < ids.size(); ++i) labels[i] = split_.labels[ids[i]];
}

}  // namespace convoke::data

#include "convoke/data/normalization.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "convoke/core/error.hpp"
#include "convoke/core/multiversion.hpp"
#include "convoke/core/table.hpp"

namespace convoke::data {

namespace {

Normalization same_for_all(const DatasetInfo& info, float scale) {
  const auto channels = static_cast<std::size_t>(channel_count(info.sample_type, info.sample_shape));
  return {std::vector<float>(channels, scale), std::vector<float>(channels, 0.0F)};
}

Normalization unit(const DatasetInfo& info, const std::string& where) {
  if (info.sample_type != SampleType::kUint8) {
    throw Error(
        fmt::format("{}: normalization \"unit\" divides by 255 and is only for uint8; these samples are {}",
                    where, name_of(info.sample_type)),
        "set data.normalize to \"standard\" or \"none\"");
  }
  return same_for_all(info, 1.0F / 255.0F);
}

// (x - mean) / std; values that never vary are only shifted. A standard deviation below what float32 can
// distinguish from the mean is the rounding error of a constant.
Normalization standard(const DatasetInfo& info, const std::string& where) {
  if (info.channel_mean.empty()) {
    throw Error(
        fmt::format("{}: normalization \"standard\" needs the attributes channel_mean and channel_std",
                    where),
        fmt::format("add both to the file: {} values each, from the training split (docs/formats.md); or set "
                    "data.normalize to \"none\"",
                    channel_count(info.sample_type, info.sample_shape)));
  }
  constexpr double kRounding = 1e-7;
  Normalization normalization;
  for (std::size_t c = 0; c < info.channel_mean.size(); ++c) {
    const double mean = info.channel_mean[c];
    const double scale = info.channel_std[c] > kRounding * std::abs(mean) ? 1.0 / info.channel_std[c] : 1.0;
    normalization.scale.push_back(static_cast<float>(scale));
    normalization.shift.push_back(static_cast<float>(-mean * scale));
  }
  return normalization;
}

Normalization none(const DatasetInfo& info, const std::string&) { return same_for_all(info, 1.0F); }

void require_rgb(const std::string& name, const DatasetInfo& info, const std::string& where) {
  const Shape& shape = info.sample_shape;
  if (info.sample_type == SampleType::kUint8 && shape.rank() == 3 && shape[0] == 3) return;
  throw Error(fmt::format("{}: normalization \"{}\" is for 8-bit images of 3 channels; these samples are {} "
                          "of shape {}, {}",
                          where, name, kind_of(info.sample_type, shape), shape.to_string(),
                          name_of(info.sample_type)),
              "set data.normalize to \"standard\" or \"none\", or prepare the images with 3 channels");
}

// torchvision.transforms.Normalize after ToTensor: (x / 255 - mean) / deviation
Normalization imagenet(const DatasetInfo& info, const std::string& where) {
  constexpr std::array kMean{0.485, 0.456, 0.406}, kDeviation{0.229, 0.224, 0.225};
  require_rgb("imagenet", info, where);
  Normalization normalization;
  for (std::size_t c = 0; c < kMean.size(); ++c) {
    normalization.scale.push_back(static_cast<float>(1 / (255 * kDeviation[c])));
    normalization.shift.push_back(static_cast<float>(-kMean[c] / kDeviation[c]));
  }
  return normalization;
}

// keras.applications.imagenet_utils.preprocess_input, mode "tf"
Normalization keras_tf(const DatasetInfo& info, const std::string& where) {
  require_rgb("keras-tf", info, where);
  return {std::vector<float>(3, 1 / 127.5F), std::vector<float>(3, -1.0F)};
}

// The same, mode "caffe": the means of red, green and blue, which the network takes in reverse order.
Normalization keras_caffe(const DatasetInfo& info, const std::string& where) {
  require_rgb("keras-caffe", info, where);
  return {.scale = {1, 1, 1}, .shift = {-123.68F, -116.779F, -103.939F}, .reversed = true};
}

struct NormalizationEntry {
  std::string_view name;
  Normalization (*make)(const DatasetInfo&, const std::string& where);
};
constexpr std::array kNormalizations{
    NormalizationEntry{"unit", unit},         NormalizationEntry{"standard", standard},
    NormalizationEntry{"none", none},         NormalizationEntry{"imagenet", imagenet},
    NormalizationEntry{"keras-tf", keras_tf}, NormalizationEntry{"keras-caffe", keras_caffe}};

}  // namespace

std::vector<std::string> normalization_names() { return names_in(kNormalizations); }

Normalization normalization_from(const std::string& name, const DatasetInfo& info, const std::string& where) {
  const NormalizationEntry& entry = find_in(kNormalizations, name, "normalization");
  if (info.sample_type == SampleType::kInt32 && entry.make != none) {
    throw Error(fmt::format("{}: normalization \"{}\" is for numbers; these samples are tokens", where, name),
                "leave data.normalize out, or set it to \"none\"");
  }
  return entry.make(info, where);
}

namespace {

// sum += x, squares += x^2 over every `stride`-th of n values.
CONVOKE_MULTIVERSION
void add_sums(const std::uint8_t* values, std::size_t n, std::size_t stride, std::uint64_t* sum_out,
              std::uint64_t* squares_out) {
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t x = values[i * stride];
    sum += x;
    squares += x * x;
  }
  *sum_out += sum;
  *squares_out += squares;
}

//   sum[c] = sum_p x[p][c]                               x: (pixels, channels), sum: (channels)
CONVOKE_MULTIVERSION
void add_values(const float* __restrict x, double* __restrict sum, std::size_t pixels, std::size_t channels) {
  for (std::size_t p = 0; p < pixels; ++p) {
    for (std::size_t c = 0; c < channels; ++c) sum[c] += static_cast<double>(x[p * channels + c]);
  }
}

//   spread[c] = sum_p (x[p][c] - mean[c])^2
CONVOKE_MULTIVERSION
void add_distances(const float* __restrict x, const double* __restrict mean, double* __restrict spread,
                   std::size_t pixels, std::size_t channels) {
  for (std::size_t p = 0; p < pixels; ++p) {
    for (std::size_t c = 0; c < channels; ++c) {
      const double distance = static_cast<double>(x[p * channels + c]) - mean[c];
      spread[c] += distance * distance;
    }
  }
}

}  // namespace

ChannelStatistics::ChannelStatistics(std::size_t channels)
    : channels_(channels), sums_(channels), mean_(channels, 0.0), spread_(channels, 0.0) {}

void ChannelStatistics::add(std::span<const std::uint8_t> values) {
  exact_ = true;
  const std::size_t pixels = values.size() / channels_;
  for (std::size_t c = 0; c < channels_; ++c) {
    add_sums(values.data() + c, pixels, channels_, &sums_[c].sum, &sums_[c].squares);
  }
  pixels_ += static_cast<double>(pixels);
}

// Computes the statistics of the piece, then merges them with those so far (Chan, Golub and LeVeque 1979),
// which loses no digits for any mean:
//   d = mean_b - mean_a,  mean = mean_a + d n_b / n,  spread = spread_a + spread_b + d^2 n_a n_b / n
void ChannelStatistics::add(std::span<const float> values) {
  const std::size_t pixels = values.size() / channels_;
  if (pixels == 0) return;
  const auto count = static_cast<double>(pixels);
  std::vector<double> mean(channels_, 0.0);
  std::vector<double> spread(channels_, 0.0);
  add_values(values.data(), mean.data(), pixels, channels_);
  for (double& m : mean) m /= count;
  add_distances(values.data(), mean.data(), spread.data(), pixels, channels_);
  const double all = pixels_ + count;
  for (std::size_t c = 0; c < channels_; ++c) {
    const double distance = mean[c] - mean_[c];
    mean_[c] += distance * (count / all);
    spread_[c] += spread[c] + distance * distance * (pixels_ * count / all);
  }
  pixels_ = all;
}

std::vector<double> ChannelStatistics::mean() const {
  if (!exact_) return mean_;
  std::vector<double> mean;
  for (const Sums& channel : sums_) mean.push_back(static_cast<double>(channel.sum) / pixels_);
  return mean;
}

//   uint8: sqrt(sum x^2 / n - mean^2); floats: sqrt(sum (x - mean)^2 / n)
std::vector<double> ChannelStatistics::deviation() const {
  const std::vector<double> means = mean();
  std::vector<double> deviation;
  for (std::size_t c = 0; c < channels_; ++c) {
    const double variance =
        exact_ ? static_cast<double>(sums_[c].squares) / pixels_ - means[c] * means[c] : spread_[c] / pixels_;
    deviation.push_back(std::sqrt(std::max(0.0, variance)));
  }
  return deviation;
}

}  // namespace convoke::data

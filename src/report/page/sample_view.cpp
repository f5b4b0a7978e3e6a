#include "report/page/sample_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace convoke::report {
namespace {

constexpr std::size_t kMostWords = 25, kMostNumbers = 12;
constexpr std::int64_t kColors = 3;

std::uint8_t level_of(double value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

}  // namespace

double level_between(double least, double largest, double value) {
  const double range = largest - least;
  return range > 0 ? 255 * (value - least) / range : 128;
}

Picture picture_of(const Shape& shape, std::span<const double> values,
                   const std::function<double(double value, std::size_t channel)>& level) {
  const std::int64_t channels = shape[2];
  Picture picture{shape[1], shape[0], channels >= kColors ? kColors : 1, {}};
  for (std::int64_t pixel = 0; pixel < shape[0] * shape[1]; ++pixel) {
    for (std::int64_t c = 0; c < picture.channels; ++c) {
      picture.pixels.push_back(level_of(
          level(values[static_cast<std::size_t>(pixel * channels + c)], static_cast<std::size_t>(c))));
    }
  }
  return picture;
}

Picture picture_of(const Shape& shape, std::span<const std::uint8_t> image) {
  const std::vector<double> values(image.begin(), image.end());
  return picture_of(shape, values, [](double value, std::size_t) { return value; });
}

Picture picture_of(const explore::Sample& sample, data::SampleType type) {
  if (type == data::SampleType::kUint8) {
    return picture_of(sample.shape, sample.values, [](double value, std::size_t) { return value; });
  }
  const auto channels = static_cast<std::size_t>(sample.shape[2]);
  std::vector<double> least(channels, HUGE_VAL), largest(channels, -HUGE_VAL);
  for (std::size_t i = 0; i < sample.values.size(); ++i) {
    least[i % channels] = std::min(least[i % channels], sample.values[i]);
    largest[i % channels] = std::max(largest[i % channels], sample.values[i]);
  }
  return picture_of(sample.shape, sample.values,
                    [&](double value, std::size_t c) { return level_between(least[c], largest[c], value); });
}

Figure row_of(const std::vector<Picture>& pictures, const std::string& caption, double side) {
  const auto longer = static_cast<double>(std::max(pictures.front().width, pictures.front().height));
  return {contact_sheet(pictures, std::ssize(pictures)), caption, std::max(1.0, std::round(side / longer))};
}

std::string word_of(std::int32_t token, const explore::Names& names) {
  const auto at = static_cast<std::size_t>(token);
  return at < names.words.size() && !names.words[at].empty() ? names.words[at] : fmt::format("#{}", token);
}

std::string excerpt_of(const explore::Sample& sample, bool tokens, const explore::Names& names) {
  std::string text;
  std::size_t shown = 0;
  for (const double value : sample.values) {
    if (tokens && value == 0) continue;
    if (shown++ == (tokens ? kMostWords : kMostNumbers)) return text + " …";
    if (!text.empty()) text += tokens ? " " : ", ";
    text += tokens ? word_of(static_cast<std::int32_t>(value), names) : fmt::format("{:.4g}", value);
  }
  return text.empty() ? "(empty)" : text;
}

}  // namespace convoke::report

#include "shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/text.hpp"

namespace convoke::report {
namespace {

constexpr std::size_t kMostWords = 25, kMostNumbers = 12;
constexpr std::int64_t kColours = 3;

std::uint8_t level(double value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

// The channels that are shown of C.
std::int64_t shown_channels(std::int64_t channels) { return channels >= kColours ? kColours : 1; }

// Each shown channel of each pixel, made a level by `convert(value, channel)`.
template <class Convert>
Picture picture_of(const Shape& shape, std::span<const double> values, const Convert& convert) {
  const std::int64_t channels = shape[2];
  Picture picture{shape[1], shape[0], shown_channels(channels), {}};
  for (std::int64_t pixel = 0; pixel < shape[0] * shape[1]; ++pixel) {
    for (std::int64_t c = 0; c < picture.channels; ++c) {
      picture.pixels.push_back(level(
          convert(values[static_cast<std::size_t>(pixel * channels + c)], static_cast<std::size_t>(c))));
    }
  }
  return picture;
}

}  // namespace

std::string Shown::of_classes() const {
  const auto shown = std::ssize(found.survey.shown_classes);
  if (shown == found.info.classes) return "";
  return fmt::format("The {} classes with most training samples, of {}.", shown,
                     format_count(found.info.classes));
}

std::string Shown::place(explore::Place place) const {
  return fmt::format("{} {}", found.survey.splits[place.split].name, place.index);
}

std::string Shown::channel_name(std::size_t channel) const {
  const std::int64_t channels = data::channel_count(found.info.sample_type, found.info.sample_shape);
  if (!images()) {
    return found.names.features.empty() ? fmt::format("feature {}", channel) : found.names.features[channel];
  }
  if (channels == 1) return "grey";
  if (channels == kColours && found.info.sample_type == data::SampleType::kUint8) {
    return channel == 0 ? "red" : channel == 1 ? "green" : "blue";
  }
  return fmt::format("channel {}", channel);
}

std::string Shown::word(std::int32_t token) const {
  const std::vector<std::string>& words = found.names.words;
  const auto at = static_cast<std::size_t>(token);
  return at < words.size() && !words[at].empty() ? words[at] : fmt::format("#{}", token);
}

std::string Shown::excerpt(const explore::Exhibit& exhibit) const {
  std::string text;
  std::size_t shown = 0;
  for (const double value : exhibit.values) {
    if (tokens() && value == 0) continue;
    if (shown++ == (tokens() ? kMostWords : kMostNumbers)) return text + " …";
    if (!text.empty()) text += tokens() ? " " : ", ";
    text += tokens() ? word(static_cast<std::int32_t>(value)) : fmt::format("{:.4g}", value);
  }
  return text.empty() ? "(empty)" : text;
}

Picture Shown::picture(const Shape& shape, std::span<const double> values) const {
  if (found.info.sample_type == data::SampleType::kUint8) {
    return picture_of(shape, values, [](double value, std::size_t) { return value; });
  }
  const auto& channels = found.survey.splits.front().channels;
  return picture_of(shape, values, [&](double value, std::size_t c) {
    const double range = channels[c].maximum - channels[c].minimum;
    return range > 0 ? 255 * (value - channels[c].minimum) / range : 128;
  });
}

Picture Shown::relief(const Shape& shape, std::span<const double> values) const {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return picture_of(shape, values, [&](double value, std::size_t) {
    return largest > 0 ? 127.5 + 127.5 * value / largest : 127.5;
  });
}

double Shown::scale_to(const Picture& picture, double side) {
  return std::max(1.0, std::round(side / static_cast<double>(std::max(picture.width, picture.height))));
}

}  // namespace convoke::report

#include "shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/text.hpp"

namespace convoke::report {
namespace {

constexpr std::int64_t kColorChannels = 3;

}  // namespace

std::string Shown::of_classes() const {
  const auto shown = std::ssize(found.survey.shown_classes);
  if (shown == found.info.classes) return "";
  return fmt::format("The {} classes with most training samples, of {}.", shown,
                     format_count(found.info.classes));
}

std::string Shown::place(explore::SampleIndex place) const {
  return fmt::format("{} {}", found.survey.splits[place.split].name, place.index);
}

std::string Shown::channel_name(std::size_t channel) const {
  const std::int64_t channels = data::channel_count(found.info.sample_type, found.info.sample_shape);
  if (!images()) {
    return found.names.features.empty() ? fmt::format("feature {}", channel) : found.names.features[channel];
  }
  if (channels == 1) return "gray";
  if (channels == kColorChannels && found.info.sample_type == data::SampleType::kUint8) {
    return channel == 0 ? "red" : channel == 1 ? "green" : "blue";
  }
  return fmt::format("channel {}", channel);
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

}  // namespace convoke::report

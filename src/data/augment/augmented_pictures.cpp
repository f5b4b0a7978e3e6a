#include "convoke/data/augmenter.hpp"

#include <algorithm>

#include "convoke/data/batch_loader.hpp"

namespace convoke::data {

std::vector<std::uint8_t> augmented_pictures(const Split& split, const Shape& sample_shape,
                                             std::shared_ptr<const Augmenter> augmenter,
                                             std::span<const std::uint32_t> ids, const ViewKey& view) {
  const auto channels = static_cast<std::size_t>(sample_shape[0]);
  const std::size_t size = static_cast<std::size_t>(sample_shape.elements()), area = size / channels;
  const BatchLoader loader(split, sample_shape,
                           {std::vector<float>(channels, 1.0F), std::vector<float>(channels, 0.0F)},
                           std::move(augmenter));
  std::vector<float> planes(ids.size() * size), share(ids.size());
  std::vector<std::int32_t> labels(ids.size()), second(ids.size());
  loader.load(ids, planes, {labels, second, share}, view);
  std::vector<std::uint8_t> pictures(planes.size());
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const std::size_t sample = i / size, pixel = i % size / channels, c = i % channels;
    const float value = planes[sample * size + c * area + pixel];
    pictures[i] = static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F) + 0.5F);
  }
  return pictures;
}

}  // namespace convoke::data

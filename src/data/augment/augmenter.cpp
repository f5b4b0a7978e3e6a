#include "convoke/data/augmenter.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "augmentation.hpp"
#include "color.hpp"
#include "convoke/core/error.hpp"
#include "convoke/data/batch_loader.hpp"
#include "data/convert.hpp"

namespace convoke::data {
namespace {

constexpr std::array kAugmentations{Augmentation{wants_crop, draw_crop},
                                    Augmentation{wants_affine, draw_affine},
                                    Augmentation{wants_flip, draw_flip},
                                    Augmentation{wants_color, draw_color},
                                    Augmentation{wants_randaugment, draw_randaugment},
                                    Augmentation{wants_cutout, draw_cutout}};

void require_images(const AugmentOptions& options, const Shape& shape, SampleType type) {
  if (shape.rank() != 3) {
    throw Error(fmt::format("[augment] is for images, but the samples are {} of shape {}",
                            kind_of(type, shape), shape.to_string()),
                "leave [augment] out");
  }
  if (type == SampleType::kUint8) {
    const Fill& fill = options.fill;
    if (fill.mode != FillMode::kConstant || (fill.value >= 0 && fill.value <= 255)) return;
    throw Error(fmt::format("augment.cval is {}, but the pixels of these images are 0 to 255", fill.value),
                "choose a number from 0 to 255");
  }
  for (auto* wants : {wants_color, wants_randaugment}) {
    if (!wants(options)) continue;
    throw Error(
        "[augment] changes colors, but the images are measured numbers (float32)",
        "leave out channel_shift_range, brightness_range, contrast_range, saturation_range, hue_range "
        "and randaugment, or store the images as uint8");
  }
}

// If brightness is the only change of color, the warp applies it while it writes the image.
bool only_brightness(std::span<const ColorStep> steps) {
  return steps.empty() || (steps.size() == 1 && steps[0].apply == adjust_brightness);
}

}  // namespace

std::span<const Augmentation> augmentations() { return kAugmentations; }

bool AugmentOptions::needs_fill() const {
  return wants_crop(*this) || wants_affine(*this) || wants_randaugment(*this);
}

bool AugmentOptions::changes_anything() const {
  return mixes() || std::ranges::any_of(kAugmentations, [&](const Augmentation& augmentation) {
           return augmentation.wanted(*this);
         });
}

Augmenter::Augmenter(AugmentOptions options, const Shape& sample_shape, SampleType type)
    : options_(std::move(options)), shape_(sample_shape) {
  require_images(options_, shape_, type);
  one_.assign(static_cast<std::size_t>(shape_[0]), 1.0F);
  zero_.assign(static_cast<std::size_t>(shape_[0]), 0.0F);
}

template <class T>
void Augmenter::picture(const T* image, const ViewKey& view, std::uint64_t sample,
                        const Normalization& normalization, float* out) const {
  RandomStream random({view.seed, Purpose::kAugment, view.epoch, sample});
  Change change;
  for (const Augmentation& augmentation : augmentations()) {
    if (augmentation.wanted(options_)) augmentation.draw(options_, shape_, random, change);
  }

  const Planes planes{out, static_cast<std::size_t>(shape_[0]), static_cast<std::size_t>(shape_[1]),
                      static_cast<std::size_t>(shape_[2])};
  const std::span<const ColorStep> colors = change.colors();
  const bool moved = change.map != AffineMap{};
  const bool at_once = colors.empty() || (moved && only_brightness(colors));
  const float* const scale = at_once ? normalization.scale.data() : one_.data();
  const float* const shift = at_once ? normalization.shift.data() : zero_.data();
  if (moved) {
    Tone tone{.scale = scale, .shift = shift};
    if (at_once && !colors.empty()) tone = {scale, shift, colors[0].amount, 255};
    warp(ImageView<T>{image, shape_[1], shape_[2], shape_[0]}, change.map, options_.fill, tone, shape_[1],
         shape_[2], out);
  } else {
    convert_image(image, out, planes.pixels(), planes.channels, scale, shift);
  }
  if (!at_once) {
    for (const ColorStep& step : colors) step.apply(planes, step.amount);
    normalize(planes, normalization.scale.data(), normalization.shift.data());
  }
  erase(planes, change.hole);
  if (normalization.reversed) reverse_channels(out, planes.pixels(), planes.channels);
}

template void Augmenter::picture(const std::uint8_t*, const ViewKey&, std::uint64_t, const Normalization&,
                                 float*) const;
template void Augmenter::picture(const float*, const ViewKey&, std::uint64_t, const Normalization&,
                                 float*) const;

void Augmenter::mix(const ViewKey& view, std::span<const std::uint32_t> ids, std::span<float> pictures,
                    const Targets& targets) const {
  const auto size = static_cast<std::size_t>(shape_.elements());
  const auto micro_batch = static_cast<std::size_t>(view.micro_batch);
  for (std::size_t first = 0; first < ids.size(); first += micro_batch) {
    const std::size_t count = std::min(micro_batch, ids.size() - first);
    mix_micro_batch(options_, shape_, view, first, ids.subspan(first, count),
                    pictures.subspan(first * size, count * size),
                    {targets.labels.subspan(first, count), targets.second.subspan(first, count),
                     targets.share.subspan(first, count),
                     targets.second_weights.empty() ? targets.second_weights
                                                    : targets.second_weights.subspan(first, count)});
  }
}

AugmentOptions for_testing(AugmentOptions options) {
  options.cutout = 0;
  options.mixup = options.cutmix = 0;
  return options;
}

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

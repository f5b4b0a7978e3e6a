#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/error.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

using data::AugmentOptions;
using AugmentKey = Key<AugmentOptions>;

constexpr double kMostPixels = 1e6;

std::vector<std::string> fill_modes() {
  std::vector<std::string> names;
  for (const auto mode :
       {data::FillMode::kNearest, data::FillMode::kConstant, data::FillMode::kReflect, data::FillMode::kWrap})
    names.emplace_back(data::name_of(mode));
  return names;
}

void read_fill_mode(SettingsReader& read, const KeyFacts& key, AugmentOptions& options) {
  const std::string name = read.get(key.name, std::string(data::name_of(options.fill.mode)));
  read.at(key.name, [&] { options.fill.mode = data::fill_mode_from(name); });
}

std::optional<Value> write_fill_mode(const KeyFacts&, const AugmentOptions& options) {
  return data::name_of(options.fill.mode);
}

// As in Keras: z stands for [1 - z, 1 + z].
void read_zoom(SettingsReader& read, const KeyFacts& key, AugmentOptions& options) {
  std::vector<double> zoom =
      read.get(key.name, std::vector<double>(options.zoom_range.begin(), options.zoom_range.end()));
  if (zoom.size() == 1) zoom = {1 - zoom[0], 1 + zoom[0]};
  check_key(read, key, zoom.size() == 2 && 1e-2 <= zoom[0] && zoom[0] <= zoom[1] && zoom[1] <= 1e2);
  options.zoom_range = {zoom[0], zoom[1]};
}

std::optional<Value> write_zoom(const KeyFacts& key, const AugmentOptions& options) {
  return to_value(key, options.zoom_range);
}

// A list of one number stands for that number with a random sign, as the list of twice that number does; a
// ShiftRange of one number is a range.
template <data::ShiftRange AugmentOptions::*kShift>
void read_shift(SettingsReader& read, const KeyFacts& key, AugmentOptions& options) {
  data::ShiftRange shift = read.get(key.name, options.*kShift);
  const Value* const written = read.find(key.name);
  const bool list = written != nullptr && std::holds_alternative<Value::Array>(written->data());
  if (list && shift.size() == 1) shift.push_back(shift[0]);
  const bool good = std::all_of(shift.begin(), shift.end(), [&](double s) {
    return std::abs(s) <= kMostPixels && (s >= 0 || shift.size() > 1);
  });
  check_key(read, key, good && !shift.empty());
  options.*kShift = shift;
}

template <data::ShiftRange AugmentOptions::*kShift>
std::optional<Value> write_shift(const KeyFacts& key, const AugmentOptions& options) {
  const data::ShiftRange& shift = options.*kShift;
  return shift.size() == 1 ? Value(shift[0]) : to_value(key, shift);
}

template <data::ShiftRange AugmentOptions::*kShift>
constexpr AugmentKey shift_key(std::string_view name, std::string_view help) {
  return {{.name = name,
           .expected = "a share of the extent, a number of pixels of at most 1000000, or a list of numbers",
           .help = help,
           .type = "number or list of numbers"},
          read_shift<kShift>,
          write_shift<kShift>};
}

constexpr std::array kAugmentKeys{
    key<&AugmentOptions::random_crop>({.name = "random_crop",
                                       .range = {.least = 0, .largest = kMostPixels},
                                       .help = "largest shift, in pixels, of a crop of the same size to each "
                                               "side; 4 with `fill_mode = \"constant\"` is "
                                               "usual for CIFAR"}),
    key<&AugmentOptions::random_resized_crop>(
        {.name = "random_resized_crop",
         .range = {.least = 1e-4, .largest = 1},
         .expected = "two shares of the area, [least, largest], above 0 and at most 1",
         .help = "share of the area of a part that is resized to the full size, as in torchvision's "
                 "`RandomResizedCrop`; `[0.08, 1.0]` is usual for ImageNet"}),
    key<&AugmentOptions::crop_ratio>(
        {.name = "crop_ratio",
         .range = {.least = 1e-2, .largest = 1e2},
         .expected = "two ratios of width to height, [least, largest], of 0.01 to 100",
         .help = "with `random_resized_crop`: width / height of that part, its logarithm drawn uniformly"}),
    key<&AugmentOptions::brightness_range>({.name = "brightness_range",
                                            .range = {.least = 0, .largest = 1e3},
                                            .expected = "two factors, [least, largest]",
                                            .help = "a factor on the brightness"}),
    key<&AugmentOptions::contrast_range>({.name = "contrast_range",
                                          .range = {.least = 0, .largest = 1e3},
                                          .expected = "two factors, [least, largest]",
                                          .help = "a factor on the contrast"}),
    key<&AugmentOptions::saturation_range>({.name = "saturation_range",
                                            .range = {.least = 0, .largest = 1e3},
                                            .expected = "two factors, [least, largest]",
                                            .help = "a factor on the saturation"}),
    key<&AugmentOptions::rotation_range>({.name = "rotation_range",
                                          .range = {.least = 0, .largest = 180},
                                          .help = "degrees, drawn uniformly to either side"}),
    key<&AugmentOptions::shear_range>({.name = "shear_range",
                                       .range = {.least = 0, .largest = 89},
                                       .help = "degrees, drawn uniformly to either side"}),
    key<&AugmentOptions::channel_shift_range>(
        {.name = "channel_shift_range",
         .range = {.least = 0, .largest = 255},
         .help = "a number in units of pixel values that is added to all "
                 "channels; results are clipped to the value range of the image"}),
    key<&AugmentOptions::hue_range>({.name = "hue_range",
                                     .range = {.least = 0, .largest = 0.5},
                                     .help = "fraction of a full turn of the hue circle, to either side"}),
    shift_key<&AugmentOptions::width_shift_range>(
        "width_shift_range",
        "below 1: a share of the extent, drawn uniformly to either side; a whole number n, also as n.0 unlike "
        "in Keras: whole pixels from -(n - 1) to n - 1, so 1 shifts nothing; any other number: pixels; a list: "
        "one of its numbers, with a random sign"),
    shift_key<&AugmentOptions::height_shift_range>("height_shift_range",
                                                   "as `width_shift_range`, along the height"),
    AugmentKey{{.name = "zoom_range",
                .expected = "a number from 0 to 0.99, or two factors, [least, largest]",
                .help = "z stands for `[1 - z, 1 + z]`. Height and width draw separate factors; above 1 the "
                        "image becomes smaller",
                .type = "number or two numbers"},
               read_zoom,
               write_zoom},
    key<&AugmentOptions::horizontal_flip>(
        {.name = "horizontal_flip", .help = "mirror half of the images from left to right"}),
    key<&AugmentOptions::vertical_flip>(
        {.name = "vertical_flip", .help = "mirror half of the images from top to bottom"}),
    AugmentKey{{.name = "fill_mode",
                .names = fill_modes,
                .help = "the pixels beyond the edges, as in SciPy and Keras",
                .type = "text"},
               read_fill_mode,
               write_fill_mode},
    key<&AugmentOptions::fill, &data::Fill::value>(
        {.name = "cval",
         .help = "with `fill_mode = \"constant\"`: the value of these pixels, in units of the stored pixels; "
                 "0 to 255 for 8-bit images"}),
    key<&AugmentOptions::randaugment>(
        {.name = "randaugment",
         .range = {.least = 0, .largest = 16},
         .help = "the number of operations from torchvision's list of 14 (Cubuk et al. 2020); 0: off"}),
    key<&AugmentOptions::randaugment_magnitude>({.name = "randaugment_magnitude",
                                                 .range = {.least = 0, .largest = 30},
                                                 .help = "the magnitude of the RandAugment operations"}),
    key<&AugmentOptions::cutout>({.name = "cutout",
                                  .range = {.least = 0},
                                  .help =
                                      "the side, in pixels, of a square that is set to 0 after normalization "
                                      "(DeVries and Taylor 2017); 0: off"}),
    key<&AugmentOptions::mixup>(
        {.name = "mixup",
         .range = {.least = 0, .largest = 100},
         .help = "mixup: alpha of the beta distribution of the mixing share (Zhang et al. 2018); 0: off"}),
    key<&AugmentOptions::cutmix>({.name = "cutmix",
                                  .range = {.least = 0, .largest = 100},
                                  .help = "CutMix: alpha of the beta distribution (Yun et al. 2019); with "
                                          "`mixup` too, both are equally likely; 0: off"}),
    key<&AugmentOptions::mix_probability>({.name = "mix_probability",
                                           .range = {.least = 0, .largest = 1},
                                           .help = "the probability that a pair is mixed"}),
};

// Mixing needs images, and a second sample in the micro-batch.
void check_mixing(const SettingsReader& read, const AugmentOptions& options, const ModelRecipe& model,
                  std::int64_t micro_batch) {
  if (!options.mixes()) return;
  const char* const key = options.mixup > 0 ? "mixup" : "cutmix";
  if (micro_batch < 2) {
    read.fail_at(key,
                 fmt::format("\"{}\" mixes the samples of a micro-batch, but train.micro_batch is 1", key),
                 "set train.micro_batch to 2 or more");
  }
  if (model.cache_features > 0) {
    read.fail_at(key,
                 fmt::format("\"{}\" needs images, but model.cache_features replaces them by features", key),
                 "set model.cache_features to 0");
  }
}

void read_augment(SettingsReader& read, const Settings& document, Recipe& recipe) {
  const ModelRecipe& model = recipe.model;
  read_keys(kAugmentKeys, read, recipe.augment);
  if (model.input.size() != 3 && recipe.augment != AugmentOptions{}) {
    throw Error(fmt::format("{}: [augment] is for images, but model.input is {}", document.place("augment"),
                            Shape(model.input).to_string()),
                "remove [augment]");
  }
  check_mixing(read, recipe.augment, model, recipe.micro_batch());
}

}  // namespace

Section augment_section() {
  return section_of<kAugmentKeys, &Recipe::augment>(
      "augment",
      "Random changes to training images, before normalization. Validation and test images do not change. "
      "Keys that Keras' `ImageDataGenerator` has too have its names and meaning.",
      read_augment);
}

}  // namespace convoke::recipe

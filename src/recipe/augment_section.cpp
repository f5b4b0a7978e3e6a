#include <fmt/format.h>

#include <cmath>

#include "convoke/recipe/section_reader.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

using data::AugmentOptions;
using data::Interval;

/// A key of a number that is drawn to either side of 0.
struct RangeKey {
  std::string_view name;
  double AugmentOptions::*value;
  double largest;
  std::string_view expected;
};
constexpr std::array kRanges{
    RangeKey{"rotation_range", &AugmentOptions::rotation_range, 180, "degrees of 0 to 180"},
    RangeKey{"shear_range", &AugmentOptions::shear_range, 89, "degrees of 0 to 89"},
    RangeKey{"channel_shift_range", &AugmentOptions::channel_shift_range, 255, "0 to 255, units of pixels"},
    RangeKey{"hue_range", &AugmentOptions::hue_range, 0.5, "0 to 0.5, parts of a turn"}};

/// A key of two numbers between which one is drawn, from `least` to `largest`.
struct IntervalKey {
  std::string_view name;
  Interval AugmentOptions::*value;
  double least, largest;
  std::string_view expected;
};
constexpr std::array kIntervals{
    IntervalKey{"random_resized_crop", &AugmentOptions::random_resized_crop, 1e-4, 1,
                "two shares of the area, [least, largest], above 0 and at most 1"},
    IntervalKey{"crop_ratio", &AugmentOptions::crop_ratio, 1e-2, 1e2,
                "two ratios of width to height, [least, largest], of 0.01 to 100"},
    IntervalKey{"brightness_range", &AugmentOptions::brightness_range, 0, 1e3,
                "two factors, [least, largest]"},
    IntervalKey{"contrast_range", &AugmentOptions::contrast_range, 0, 1e3, "two factors, [least, largest]"},
    IntervalKey{"saturation_range", &AugmentOptions::saturation_range, 0, 1e3,
                "two factors, [least, largest]"}};

bool within(const Interval& interval, double least, double largest) {
  return interval[0] >= least && interval[0] <= interval[1] && interval[1] <= largest;
}

void read_interval(SectionReader& read, const IntervalKey& key, AugmentOptions& options) {
  Interval& value = options.*key.value;
  const std::vector<double> pair = read.get(key.name, std::vector<double>(value.begin(), value.end()));
  const bool good = pair.size() == 2 && within({pair[0], pair[1]}, key.least, key.largest);
  read.check(key.name, good, key.expected);
  value = {pair[0], pair[1]};
}

// As Keras: z is [1 - z, 1 + z].
Interval read_zoom(SectionReader& read) {
  std::vector<double> zoom = read.get("zoom_range", std::vector<double>{1, 1});
  if (zoom.size() == 1) zoom = {1 - zoom[0], 1 + zoom[0]};
  const bool good = zoom.size() == 2 && within({zoom[0], zoom[1]}, 1e-2, 1e2);
  read.check("zoom_range", good, "a number of 0 to 0.99, or two factors, [least, largest]");
  return {zoom[0], zoom[1]};
}

data::ShiftRange read_shift(SectionReader& read, std::string_view key) {
  const data::ShiftRange shift = read.get(key, data::ShiftRange{0});
  const bool good = !shift.empty() && std::all_of(shift.begin(), shift.end(), [&](double s) {
    return std::isfinite(s) && (s >= 0 || shift.size() > 1);
  });
  read.check(key, good, "a share of the extent, a number of pixels, or a list of which one is chosen");
  return shift;
}

double read_alpha(SectionReader& read, std::string_view key) {
  const double alpha = read.get(key, 0.0);
  read.check(key, alpha >= 0 && alpha <= 100, "the alpha of a beta distribution, up to 100, or 0: off");
  return alpha;
}

// Mixing needs a partner within the lane, and labels that stand beside the samples.
void check_mixing(const SectionReader& read, const AugmentOptions& options, const ModelRecipe& model,
                  std::int64_t lane) {
  if (!options.mixes()) return;
  const char* const key = options.mixup > 0 ? "mixup" : "cutmix";
  if (lane < 2) {
    read.fail(key, fmt::format("\"{}\" mixes samples of one lane, which has only one", key),
              "set train.lane to 2 or more");
  }
  if (model.cache_features > 0) {
    read.fail(key, fmt::format("\"{}\" needs pictures, but model.cache_features keeps their features", key),
              "set model.cache_features to 0");
  }
}

Value list(const std::vector<double>& values) { return Value::Array(values.begin(), values.end()); }
Value list(const Interval& values) { return Value::Array(values.begin(), values.end()); }
Value shift_value(const data::ShiftRange& shift) { return shift.size() == 1 ? Value(shift[0]) : list(shift); }

}  // namespace

data::AugmentOptions read_augment(const TomlDocument& document, const ModelRecipe& model, std::int64_t lane) {
  SectionReader read(document, "augment");
  AugmentOptions options;
  options.random_crop = read.get_count("random_crop", options.random_crop, 0);
  for (const IntervalKey& key : kIntervals) read_interval(read, key, options);
  for (const RangeKey& key : kRanges) {
    double& value = options.*key.value;
    value = read.get(key.name, value);
    read.check(key.name, value >= 0 && value <= key.largest, key.expected);
  }
  options.width_shift_range = read_shift(read, "width_shift_range");
  options.height_shift_range = read_shift(read, "height_shift_range");
  options.zoom_range = read_zoom(read);
  options.horizontal_flip = read.get("horizontal_flip", options.horizontal_flip);
  options.vertical_flip = read.get("vertical_flip", options.vertical_flip);
  const std::string mode = read.get("fill_mode", std::string(data::name_of(options.fill.mode)));
  options.fill.mode = read.at("fill_mode", [&] { return data::fill_mode_from(mode); });
  options.fill.value = static_cast<float>(read.get("cval", 0.0));
  options.randaugment = read.get_count("randaugment", options.randaugment, 0);
  read.check("randaugment", options.randaugment <= 16, "0 to 16 operations");
  options.randaugment_magnitude = read.get_count("randaugment_magnitude", options.randaugment_magnitude, 0);
  read.check("randaugment_magnitude", options.randaugment_magnitude <= 30, "0 to 30");
  options.cutout = read.get_count("cutout", options.cutout, 0);
  options.mixup = read_alpha(read, "mixup");
  options.cutmix = read_alpha(read, "cutmix");
  options.mix_probability = read.get("mix_probability", options.mix_probability);
  read.check("mix_probability", options.mix_probability >= 0 && options.mix_probability <= 1, "0 to 1");
  read.finish();
  if (model.input.size() != 3 && options != AugmentOptions{}) {
    throw Error(fmt::format("{}: [augment] is for images, but model.input is {}", document.place("augment"),
                            Shape(model.input).to_string()),
                "leave [augment] out");
  }
  check_mixing(read, options, model, lane);
  return options;
}

Settings write(const data::AugmentOptions& options) {
  Settings settings{{"random_crop", options.random_crop}};
  for (const IntervalKey& key : kIntervals) settings.set(key.name, list(options.*key.value));
  for (const RangeKey& key : kRanges) settings.set(key.name, options.*key.value);
  settings.set("width_shift_range", shift_value(options.width_shift_range));
  settings.set("height_shift_range", shift_value(options.height_shift_range));
  settings.set("zoom_range", list(options.zoom_range));
  settings.set("horizontal_flip", options.horizontal_flip);
  settings.set("vertical_flip", options.vertical_flip);
  settings.set("fill_mode", data::name_of(options.fill.mode));
  settings.set("cval", static_cast<double>(options.fill.value));
  settings.set("randaugment", options.randaugment);
  settings.set("randaugment_magnitude", options.randaugment_magnitude);
  settings.set("cutout", options.cutout);
  settings.set("mixup", options.mixup);
  settings.set("cutmix", options.cutmix);
  settings.set("mix_probability", options.mix_probability);
  return settings;
}

}  // namespace convoke::recipe

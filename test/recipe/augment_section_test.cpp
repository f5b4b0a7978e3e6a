// [augment], data.sampling and train.class_weights.
#include "convoke/recipe/recipe.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using recipe::Recipe;

namespace {

const std::string kImages = R"(name = "images"
[data]
path = "x.h5"
[model]
input = [3, 32, 32]
layers = [ { layer = "flatten" }, { layer = "dense", units = 3, activation = "softmax" } ]
[train]
batch = 32
)";
const std::string kTable = R"([data]
path = "x.h5"
[model]
input = [7]
layers = [ { layer = "dense", units = 3, activation = "softmax" } ]
)";

Recipe parse(const std::string& more, const std::string& base = kImages) {
  return Recipe::parse(base + more, "recipe.toml");
}

std::string section_error(const std::string& more, const std::string& base = kImages) {
  return error_of([&] { parse(more, base); });
}

}  // namespace

// ImageDataGenerator(rotation_range=18, width_shift_range=.05, height_shift_range=2, shear_range=10,
// zoom_range=.05,
//                    horizontal_flip=True, brightness_range=(.8, 1.2), fill_mode="reflect")
TEST_CASE("settings of Keras' ImageDataGenerator can be used unchanged") {
  const data::AugmentOptions options = parse(R"([augment]
rotation_range = 18
width_shift_range = 0.05
height_shift_range = 2
shear_range = 10
zoom_range = 0.05
horizontal_flip = true
brightness_range = [0.8, 1.2]
fill_mode = "reflect"
)")
                                           .augment;
  data::AugmentOptions expected;
  expected.rotation_range = 18;
  expected.width_shift_range.assign(1, 0.05);
  expected.height_shift_range.assign(1, 2);
  expected.shear_range = 10;
  expected.zoom_range = {1 - 0.05, 1 + 0.05};
  expected.horizontal_flip = true;
  expected.brightness_range = {0.8, 1.2};
  expected.fill.mode = data::FillMode::kReflect;
  CHECK(options == expected);
  CHECK(parse("[augment]\nzoom_range = [0.5, 1.5]\nwidth_shift_range = [-3, 0, 5]\n")
            .augment.width_shift_range == data::ShiftRange{-3, 0, 5});
  // A list of one number is that number with a random sign, not a range.
  const Recipe list = parse("[augment]\nwidth_shift_range = [3]\n");
  CHECK(list.augment.width_shift_range == data::ShiftRange{3, 3});
  CHECK(Recipe::parse(list.to_toml(), "resolved.toml").augment == list.augment);
}

TEST_CASE("augmentation is off by default, written out, and parses back") {
  CHECK(parse("").augment == data::AugmentOptions{});
  const Recipe full = parse(R"([augment]
random_crop = 4
random_resized_crop = [0.25, 1.0]
crop_ratio = [0.5, 2.0]
rotation_range = 7.5
width_shift_range = [1, 2]
height_shift_range = 0.25
shear_range = 3
zoom_range = [0.9, 1.2]
horizontal_flip = true
vertical_flip = true
fill_mode = "constant"
cval = 12
channel_shift_range = 20
brightness_range = [0.5, 1.5]
contrast_range = [0.6, 1.4]
saturation_range = [0.7, 1.3]
hue_range = 0.1
randaugment = 2
randaugment_magnitude = 15
cutout = 8
mixup = 0.2
cutmix = 1
mix_probability = 0.5
)");
  CHECK_THAT(full.to_toml(), Contains("mix_probability = 0.5"));
  const Recipe again = Recipe::parse(full.to_toml(), "resolved.toml");
  CHECK(again == full);
  CHECK(again.augment == full.augment);
  CHECK(full.augment.mixes());
  // [augment] is not written if the samples are not images.
  CHECK_THAT(parse("", kTable).to_toml(), !Contains("augment"));
}

TEST_CASE("invalid settings of [augment] are refused with their line") {
  CHECK(section_error("[augment]\nrotation_rang = 5\n") ==
        "recipe.toml:10: [augment]: unknown key \"rotation_rang\" (did you mean \"rotation_range\"?)");
  CHECK(section_error("[augment]\nrotation_range = -5\n") ==
        "recipe.toml:10: [augment]: \"rotation_range\" must be at least 0 and at most 180, but is -5");
  CHECK_THAT(section_error("[augment]\nhue_range = 0.6\n"), Contains("at least 0 and at most 0.5"));
  CHECK_THAT(section_error("[augment]\nbrightness_range = 0.2\n"),
             Contains("two factors, [least, largest], but is 0.2"));
  CHECK_THAT(section_error("[augment]\nbrightness_range = [1.2, 0.8]\n"), Contains("two factors"));
  CHECK_THAT(section_error("[augment]\nzoom_range = 1.5\n"), Contains("0 to 0.99"));
  CHECK(section_error("[augment]\nfill_mode = \"refect\"\n") ==
        "recipe.toml:10: unknown fill mode \"refect\" (did you mean \"reflect\"?)");
  CHECK_THAT(section_error("[augment]\nrandom_resized_crop = [0, 1]\n"), Contains("above 0"));
  CHECK_THAT(section_error("[augment]\nwidth_shift_range = -0.1\n"), Contains("a share of the extent"));
  CHECK_THAT(section_error("[augment]\nheight_shift_range = 18446744073709551616.0\n"),
             Contains("at most 1000000"));
  CHECK_THAT(section_error("[augment]\nrandom_crop = 4611686018427387904\n"), Contains("at most 1000000"));
  CHECK_THAT(section_error("[augment]\nrandaugment = 40\n"), Contains("at least 0 and at most 16"));
  CHECK_THAT(section_error("[augment]\nmix_probability = 2\n"), Contains("at least 0 and at most 1"));
  CHECK_THAT(section_error("[augment]\nhorizontal_flip = true\n", kTable),
             Contains("[augment] is for images"));
}

TEST_CASE("a key without the key that it needs changes nothing, and has a note") {
  const Recipe recipe = parse(R"(wire = "bf16"
strategy = "local-sgd"
emulate_bf16 = true
state_precision = "bf16"
optimizer = "sgd"
[augment]
crop_ratio = [0.5, 2.0]
fill_mode = "constant"
cval = 3
randaugment_magnitude = 5
mix_probability = 0.5
[ensemble]
members = 4
[run]
keep_best = 2
cache_mib = 100
)");
  CHECK_FALSE(recipe.augment.changes_anything());
  CHECK(recipe.model.notes ==
        std::vector<std::string>{
            "augment.crop_ratio = [0.5, 2.0] has no effect without augment.random_resized_crop",
            "augment.fill_mode = \"constant\" has no effect without a crop, shift, rotation, shear, zoom or "
            "RandAugment",
            "augment.cval = 3.0 has no effect without augment.fill_mode = \"constant\" and a change that "
            "moves pixels",
            "augment.randaugment_magnitude = 5 has no effect without augment.randaugment",
            "augment.mix_probability = 0.5 has no effect without augment.mixup or augment.cutmix",
            "train.wire = \"bf16\" has no effect with a train.strategy that sends no gradients",
            "train.emulate_bf16 = true has no effect without train.precision = \"bf16\"",
            "train.state_precision = \"bf16\" has no effect with an optimizer that has no state",
            "ensemble.members = 4 has no effect without train.mode = \"ensemble\"",
            "run.keep_best = 2 has no effect without data.validation_split",
            "run.cache_mib = 100 has no effect without model.cache_features"});

  const std::string used =
      "[augment]\nhue_range = 0.1\nrandom_crop = 2\nfill_mode = \"constant\"\ncval = 3\n";
  CHECK(parse(used).augment.changes_anything());
  CHECK(parse(used).model.notes.empty());
  CHECK(Recipe::parse(kImages + used, "recipe.toml", {"model.input=[1, 32, 32]"}).model.notes ==
        std::vector<std::string>{
            "augment.hue_range = 0.1 has no effect on images that do not have 3 channels"});
}

TEST_CASE("mixing needs images, and a second sample in the micro-batch") {
  CHECK_THAT(section_error("micro_batch = 1\n[augment]\nmixup = 0.2\n"),
             Contains("mixes the samples of a micro-batch"));
  CHECK(section_error("micro_batch = 2\n[augment]\nmixup = 0.2\n").empty());
  const std::string cached = R"([data]
path = "x.h5"
[model]
input = [3, 32, 32]
freeze = ["first"]
cache_features = 1
layers = [ { layer = "conv2d", filters = 2, kernel = 3, name = "first" }, { layer = "flatten" },
           { layer = "dense", units = 3, activation = "softmax" } ]
)";
  CHECK_THAT(section_error("[augment]\ncutmix = 1\n", cached), Contains("cache_features"));
}

TEST_CASE("classes are balanced by sampling or by weights") {
  CHECK(parse("").data.samples.sampling == data::Sampling::kAll);
  const Recipe balanced =
      Recipe::parse(kImages + "class_weights = \"balanced\"\n", "recipe.toml", {"data.sampling=balanced"});
  CHECK(balanced.data.samples.sampling == data::Sampling::kBalanced);
  CHECK(balanced.train.balance_classes);
  CHECK(Recipe::parse(balanced.to_toml(), "resolved.toml") == balanced);

  const Recipe listed = parse("class_weights = [1, 2.5, 3]\n");
  CHECK_FALSE(listed.train.balance_classes);
  CHECK(listed.train.loss->settings() ==
        parse("loss = { name = \"softmax_cross_entropy\", class_weights = [1, 2.5, 3] }\n")
            .train.loss->settings());
  CHECK(Recipe::parse(listed.to_toml(), "resolved.toml") == listed);

  CHECK_THAT(section_error("class_weights = \"balance\"\n"), Contains("did you mean \"balanced\"?"));
  CHECK(section_error("class_weights = [1, -2, 3]\n").find("recipe.toml:9") == 0);
  CHECK_THAT(section_error("class_weights = \"balanced\"\nloss = { class_weights = [1, 2, 3] }\n"),
             Contains("set here and in train.loss"));
  CHECK_THAT(section_error("[unused]\n"), Contains("unknown key"));
  CHECK_THAT(error_of([] {
               Recipe::parse(kImages, "recipe.toml", {"data.sampling=balanced", "data.shuffle=false"});
             }),
             Contains("data.shuffle is false"));
}

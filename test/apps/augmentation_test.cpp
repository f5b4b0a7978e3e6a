// Augmentation, test-time augmentation and balanced classes through the real binary.
#include <cmath>
#include <variant>

#include "apps/place.hpp"
#include "convoke/data/dataset_writer.hpp"
#include "convoke/data_prep/files/npy.hpp"
#include "convoke/run/model_file.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"

namespace {

constexpr const char* kAugment =
    "--set augment.width_shift_range=0.1 --set augment.rotation_range=10 --set "
    "augment.brightness_range=[0.8,1.2] --set augment.cutout=2 --set augment.mixup=0.2 ";

double number_after(const std::string& text, const std::string& key) {
  return number_in(text, "\"" + key + "\": ?([0-9.e+-]+)");
}

std::vector<float> parameters(const fs::path& run) {
  return convoke::run::load_models(run / "model.h5").members.at(0).parameters;
}

}  // namespace

TEST_CASE("evaluate and predict average over views, equally on any number of ranks") {
  const Place place;
  REQUIRE(place.train("run", kAugment).code == 0);
  const Outcome once = place.run("evaluate run --json");
  const Outcome views = place.run("evaluate run --json --tta 5").ends(0);
  CAPTURE(views.text);
  CHECK(number_after(views.text, "views") == 5);
  CHECK(number_after(views.text, "loss") != number_after(once.text, "loss"));
  const Outcome ranks = place.run("evaluate run --json --tta 5", mpirun(3));
  CHECK(number_after(ranks.text, "loss") == number_after(views.text, "loss"));
  CHECK(place.run("evaluate run --tta 5").says("mean of 5 views"));

  // predict has the same accuracy on these samples.
  REQUIRE(place.run("predict run data.h5 --tta 5 --output views.csv", mpirun(2)).code == 0);
  REQUIRE(place.run("predict run data.h5 --output once.csv").code == 0);
  CHECK(bytes_of(place / "views.csv") != bytes_of(place / "once.csv"));
  const Pictures test(60, 8, 4, 2);
  const auto rows = rows_of(place / "views.csv");  // input, index, label, ...
  int correct = 0;
  for (std::size_t i = 0; i < 60; ++i) correct += std::stoi(rows.at(i + 1).at(2)) == test.labels[i] ? 1 : 0;
  CHECK(number_after(views.text, "accuracy") == Approx(correct / 60.0));
}

TEST_CASE("predict makes the views of evaluate, also where a pixel lies on a threshold of colors") {
  const Place place;
  // In float32, (17 / 127.5 - 1 + 1) * 127.5 is less than 17, the threshold of solarize.
  std::vector<std::uint8_t> pixels;
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 40 * 8 * 8 * 3; ++i) {
    pixels.push_back(static_cast<std::uint8_t>(i % 7 < 4 ? 17 : 30 * (i % 8)));
  }
  for (int i = 0; i < 40; ++i) labels.push_back(i % 4);
  auto writer = convoke::data::DatasetWriter::create(
      place / "rgb.h5", {.sample_shape = {3, 8, 8}, .classes = 4}, {{"train", 40}, {"test", 40}});
  for (const char* split : {"train", "test"}) writer.write(split, 0, pixels, labels);
  writer.finish();
  const char* settings =
      "--set data.path=rgb.h5 --set 'model.input=[3,8,8]' --set data.normalize=keras-tf --set train.epochs=1 "
      "--set augment.randaugment=2 --set augment.randaugment_magnitude=28";
  REQUIRE(place.train("run", settings).code == 0);
  const double expected = number_after(place.run("evaluate run --json --tta 8").text, "loss");
  REQUIRE(place.run("predict run rgb.h5 --tta 8 --output views.npy").code == 0);
  const auto table = convoke::data_prep::read_npy(place / "views.npy");  // (40, 1 + 4)
  double loss = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    loss -= std::log(std::get<std::vector<float>>(table.values).at(5 * i + 1 + i % 4)) / 40;
  }
  CHECK(loss == Approx(expected).epsilon(1e-5));
}

TEST_CASE("views without an augmentation are refused") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=0 --set augment.mixup=0.2").code == 0);
  place.run("evaluate run --tta 2").ends(1).shows("neither moves pixels nor changes colors");
  fs::create_directory(place / "alone");
  fs::copy(place / "run/model.h5", place / "alone/model.h5");
  CHECK(place.run("predict alone/model.h5 data.h5 --tta 2").says("no recipe.toml next to the model"));
  CHECK(place.run("evaluate run --tta 0").code == 2);
  CHECK(place.run("predict run data.h5 --tta 2 --raw --output x.npy").code == 2);
}

TEST_CASE("class weights from counts equal those of the same list") {
  const Place place;
  const Pictures training(150, 8, 4, 1);
  std::vector<int> counts(4);
  for (const std::int32_t label : training.labels) ++counts[static_cast<std::size_t>(label)];
  std::string list;
  for (const int count : counts)
    list += fmt::format("{}{:.17g}", list.empty() ? "" : ",", 150.0 / (4 * count));
  REQUIRE(place.train("balanced", "--set train.class_weights=balanced").code == 0);
  REQUIRE(place.train("listed", "--set train.class_weights=[" + list + "]").code == 0);
  REQUIRE(place.train("none").code == 0);
  CHECK(parameters(place / "balanced") == parameters(place / "listed"));
  CHECK(parameters(place / "balanced") != parameters(place / "none"));
  REQUIRE(place.train("sampled", "--set data.sampling=balanced").code == 0);
  REQUIRE(place.train("sampled-3", "--set data.sampling=balanced", 3).code == 0);
  CHECK(parameters(place / "sampled") == parameters(place / "sampled-3"));
  CHECK(parameters(place / "sampled") != parameters(place / "none"));
  const auto numbers_uses =
      [&](const char* run) {  // older checkpoints had one dropout for all uses of a sample
        const std::string checkpoint =
            convoke::read_text(place / run / "checkpoints/epoch-0003.h5").value_or("");
        return checkpoint.find("of each use of a sample") != std::string::npos;
      };
  CHECK(numbers_uses("sampled"));
  CHECK_FALSE(numbers_uses("none"));
}

TEST_CASE("bench --data times the preparation of samples") {
  const Place place;
  const Outcome text =
      place.run(std::string("bench --data recipe.toml --seconds 0.01 --rounds 1 ") + kAugment, mpirun(2))
          .ends(0);
  CAPTURE(text.text);
  text.shows("samples of shape (1, 8, 8) to micro-batches of 8, augmented, 2 ranks").once("samples/s");
  const Outcome json = place.run("bench --data recipe.toml --seconds 0.01 --rounds 1 --json");
  CHECK(number_after(json.text, "samples_per_second") > 0);
  CHECK(json.says("\"augmented\":false"));
}

TEST_CASE("a run is not resumed with another augmentation") {
  const Place place;
  REQUIRE(place.train("run", std::string(kAugment) + "--set train.epochs=1").code == 0);
  place.train("run", "--resume --set train.epochs=2").ends(1).shows("augment.");
  CHECK(place.train("run", std::string(kAugment) + "--resume --set train.epochs=2").code == 0);
  place.train("same", "--set augment.mix_probability=0.5 --set train.epochs=1")
      .ends(0)
      .once("note: augment.mix_probability = 0.5 has no effect without augment.mixup or augment.cutmix");
  CHECK(place.train("same", "--resume --set train.epochs=2").code == 0);
}

TEST_CASE("a resumed run has as many cached views as before, unless they are all equal") {
  const Place place;
  const std::string frozen =
      "--set train.epochs=1 --set 'model.freeze=[\"conv*\",\"batch*\"]' --set model.cache_features=";
  REQUIRE(place.train("plain", frozen + "1").code == 0);
  CHECK(place.run("train --quiet --resume plain --set model.cache_features=2").code == 0);
  REQUIRE(place.train("varied", frozen + "1 --set augment.width_shift_range=0.1").code == 0);
  place.run("train --quiet --resume varied --set model.cache_features=2")
      .ends(1)
      .shows("its resume fingerprint differs (model.cache_features: 1 in the checkpoint, 2 now)");
  CHECK(place.run("train --quiet --resume varied --set train.epochs=2").code == 0);
}

TEST_CASE("a run says what only its training loss includes") {
  const Place place;
  CHECK_FALSE(place.train("plain").says("training losses include"));
  place
      .train("smoothed",
             "--set 'train.loss={ name = \"softmax_cross_entropy\", "
             "label_smoothing = 0.5 }' --set train.class_weights=balanced")
      .shows(
          "note: training losses include label smoothing, class weights; validation and test losses do not, "
          "unlike the objectives beside them\n");
}

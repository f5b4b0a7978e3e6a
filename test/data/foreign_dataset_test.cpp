// Reads files that h5py wrote by docs/formats.md. test/data/files/make_datasets.py makes them and prints the
// values expected here.
#include "convoke/data/dataset.hpp"
#include "convoke/data/normalization.hpp"
#include "support/catch.hpp"
#include "support/source_path.hpp"

using convoke::Shape;
using namespace convoke::data;

namespace {

Dataset open(const std::string& name) {
  return Dataset::open(source_path("test/data/files/" + name), {"train", "test"});
}

/// First, second and last value, and the sum over both splits.
template <class T>
void check_values(const Dataset& dataset, double first, double second, double last, double sum) {
  const auto train = dataset.split("train").values<T>();
  const auto test = dataset.split("test").values<T>();
  CHECK(static_cast<double>(train[0]) == Approx(first).epsilon(1e-6));
  CHECK(static_cast<double>(train[1]) == Approx(second).epsilon(1e-6));
  CHECK(static_cast<double>(test.back()) == Approx(last).epsilon(1e-6));
  const double both =
      std::accumulate(test.begin(), test.end(), std::accumulate(train.begin(), train.end(), 0.0));
  CHECK(both == Approx(sum).epsilon(1e-8));
}

}  // namespace

TEST_CASE("h5py's images, maps, tables, signals and texts are read") {
  const Dataset images = open("images.h5");
  CHECK(images.info().sample_type == SampleType::kUint8);
  CHECK(images.info().sample_shape == Shape{1, 8, 6});
  CHECK(images.info().class_names == std::vector<std::string>{"cat", "dog", "emu"});
  check_values<std::uint8_t>(images, 31, 116, 87, 185965);
  CHECK(images.split("train").count() == 24);
  CHECK(images.split("test").count() == 6);
  CHECK(images.split("train").labels[0] == 1);
  CHECK(images.split("test").labels.back() == 0);
  CHECK(normalization_from("unit", images.info()).scale.size() == 1);

  const Dataset maps = open("maps.h5");
  CHECK(maps.info().sample_shape == Shape{2, 8, 6});
  check_values<float>(maps, 3.21087, 3.7638872, 4.21625, 14436.1105);
  CHECK(normalization_from("standard", maps.info()).scale.size() == 2);

  const Dataset table = open("table.h5");
  CHECK(table.info().sample_shape == Shape{4});
  check_values<float>(table, 166.63933, 103.777855, 6628.1763, 305506.047);
  CHECK(table.split("train").weights[0] == 1.25F);
  CHECK(table.split("test").weights.back() == Approx(0.90909094));
  CHECK(table.info().channel_std[3] == Approx(3e3).epsilon(0.5));

  const Dataset signals = open("signals.h5");
  CHECK(signals.info().sample_type == SampleType::kFloat32);
  CHECK(signals.info().sample_shape == Shape{10, 2});
  check_values<float>(signals, 0.43676528, 1.0401789, -0.37545392, -5.10570322);
  CHECK(signals.info().channel_mean.empty());

  const Dataset texts = open("texts.h5");
  CHECK(texts.info().sample_type == SampleType::kInt32);
  CHECK(texts.info().sample_shape == Shape{12});
  CHECK(texts.info().classes == 2);
  CHECK(texts.info().vocabulary == 15);  // 14 different words, and padding
  check_values<std::int32_t>(texts, 1, 4, 0, 123);
  CHECK(texts.split("train").largest_token <= 14);
  CHECK(texts.split("test").largest_token == 14);  // "what", the last word in order
}

TEST_CASE("a compressed table in the other byte order is the same table") {
  const Dataset packed =
      Dataset::open(source_path("test/data/files/packed.h5"), std::vector<std::string>{"train"});
  const Split& all = packed.split("train");
  REQUIRE(all.count() == 30);
  const Dataset table = open("table.h5");
  std::size_t done = 0;
  for (const char* name : {"train", "test"}) {
    const Split& part = table.split(name);
    const auto count = static_cast<std::size_t>(part.count());
    const auto equal = [&](auto whole, auto expected, std::size_t width) {
      return std::equal(expected.begin(), expected.end(), whole.subspan(done * width).begin());
    };
    CHECK(equal(all.values<float>(), part.values<float>(), 4));
    CHECK(equal(all.labels, part.labels, 1));
    CHECK(equal(all.weights, part.weights, 1));
    done += count;
  }
}

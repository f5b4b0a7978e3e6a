// `predict --raw`: the output of the last layer, as an array of any shape.
#include <variant>

#include "apps/place.hpp"
#include "convoke/data_prep/files/npy.hpp"
#include "convoke/nn/layer_table.hpp"
#include "convoke/run/model_file.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/shell.hpp"

namespace {

/// Returns the values of a .npy file, as float32.
std::vector<float> values_of(const fs::path& file, const convoke::Shape& shape) {
  const convoke::data_prep::NpyArray array = convoke::data_prep::read_npy(file);
  CHECK(array.shape == shape);
  return std::get<std::vector<float>>(array.values);
}

void check_close(const std::vector<float>& found, const std::vector<float>& expected, double margin) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(margin));
}

}  // namespace

TEST_CASE("predict --raw writes the output of the last layer") {
  const Place place;
  REQUIRE(place.train("run", kEnsemble).code == 0);
  const Pictures test(60, 8, 4, 2);
  std::vector<float> inputs;
  for (const std::uint8_t value : test.samples) inputs.push_back(static_cast<float>(value) * (1.0F / 255.0F));
  convoke::data_prep::write_npy(place / "x.npy", convoke::Shape{60, 8, 8, 1}, inputs);
  convoke::data_prep::write_npy(place / "first.npy", convoke::Shape{60, 1, 8, 8}, inputs);

  // Floating-point input is used as it is, so it is normalized like the dataset. (M, N, K) for any number of
  // ranks.
  REQUIRE(place.run("predict run x.npy --raw --output y.npy", mpirun(2)).code == 0);
  const std::vector<float> rows = values_of(place / "y.npy", {3, 60, 4});
  REQUIRE(place.run("predict run data.h5 --raw --output dataset.npy").code == 0);
  check_close(values_of(place / "dataset.npy", {3, 60, 4}), rows, 1e-6);
  REQUIRE(place.run("predict run first.npy --raw --layout nchw --output first-y.npy").code == 0);
  check_close(values_of(place / "first-y.npy", {3, 60, 4}), rows, 1e-6);

  // The mean over the members equals the prediction without --raw.
  REQUIRE(place.run("predict run data.h5 --output labels.npy").code == 0);
  const std::vector<float> table = values_of(place / "labels.npy", {60, 5});
  for (std::size_t i = 0; i < 60; ++i) {
    for (std::size_t c = 0; c < 4; ++c) {
      const std::size_t at = 4 * i + c;
      CHECK((rows[at] + rows[at + 240] + rows[at + 480]) / 3 == Approx(table[5 * i + 1 + c]).margin(1e-5));
    }
  }

  const Outcome layout = place.run("predict run x.npy --raw --layout nchw --output z.npy").ends(1);
  CHECK(
      layout.says("x.npy: has shape (60, 8, 8, 1), but with --layout nchw the model takes (60, 1, 8, 8)\n"));
  CHECK(layout.says("--layout nhwc or nchw"));
  CHECK(place.run("predict run x.npy --raw")
            .says("error: --raw writes an array, which needs a file\n  hint: add --output FILE.npy"));
  CHECK(place.run("predict run x.npy --raw --output y.npy --layout chwn").ends(2).says("{nhwc,nchw}"));
  CHECK(place.run("predict run x.npy --raw --rule mean --output y.npy").code == 2);
}

TEST_CASE(
    "predict --raw accepts and writes arrays of any shape; expected values are computed from the weights") {
  using convoke::Shape;
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder / name).string(); };
  const auto model = [](const Shape& input, const std::vector<convoke::Settings>& layers) {
    return convoke::run::ModelDescription{.graph = convoke::nn::build_graph(input, layers),
                                          .normalization = {std::vector<float>(2, 0.5F), {1, -1}},
                                          .class_names = {}};
  };
  // A 1 x 1 convolution, no softmax: y[k][p] = b[k] + sum over c of w[k][c] x[c][p]; (2, 3, 3) -> (3, 3, 3).
  const std::vector<float> weights{1, 2, -3, 0.5F, 0.25F, -1, /* bias */ 10, 20, 30};
  convoke::run::write_model(
      folder / "image.h5", model({2, 3, 3}, {{{"layer", "conv2d"}, {"filters", 3}, {"kernel", 1}}}), weights);
  std::vector<float> x(5 * 18);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 23) - 7.5F;
  // (N, H, W, C), and its normalized form with channels first.
  const auto expected = [&](float scale, std::vector<float> shift) {
    std::vector<float> y(5 * 27);
    for (std::size_t n = 0; n < 5; ++n) {
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t p = 0; p < 9; ++p) {
          float& value = y[27 * n + 9 * k + p] = weights[6 + k];
          for (std::size_t c = 0; c < 2; ++c) {
            value += weights[2 * k + c] * (x[18 * n + 2 * p + c] * scale + shift[c]);
          }
        }
      }
    }
    return y;
  };
  const auto predict = [&](const char* what, const std::string& more = "") {
    return shell(binary() + " predict " + file(what) + " " + file("x.npy") + " --raw --output " +
                 file("y.npy") + " " + more);
  };
  convoke::data_prep::write_npy(folder / "x.npy", Shape{5, 3, 3, 2}, x);
  predict("image.h5", "--layout nhwc").ends(0);
  check_close(values_of(folder / "y.npy", {5, 3, 3, 3}), expected(1, {0, 0}), 1e-4);
  // Integers are normalized.
  std::vector<std::int32_t> integers;
  for (float& value : x) integers.push_back(static_cast<std::int32_t>(value = std::trunc(value)));
  convoke::data_prep::write_npy(folder / "x.npy", Shape{5, 3, 3, 2}, integers);
  REQUIRE(predict("image.h5").code == 0);
  check_close(values_of(folder / "y.npy", {5, 3, 3, 3}), expected(0.5F, {1, -1}), 1e-4);

  // A vector as input and output: y = b + W x.
  convoke::run::write_model(folder / "vector.h5", model({2}, {{{"layer", "dense"}, {"units", 3}}}), weights);
  convoke::data_prep::write_npy(folder / "x.npy", Shape{2, 2}, std::vector<float>{1, 2, 3, 4});
  REQUIRE(predict("vector.h5").code == 0);
  check_close(values_of(folder / "y.npy", {2, 3}), {15, 18, 28.25F, 21, 13, 26.75F}, 1e-4);
  convoke::data_prep::write_npy(folder / "x.npy", Shape{2, 3}, std::vector<float>(6));
  CHECK(predict("vector.h5").says("x.npy: has shape (2, 3), but the model takes samples of shape (2)\n"));
  // Without --raw, the same batch are samples: features are in units of the stored ones.
  convoke::data_prep::write_npy(folder / "x.npy", Shape{2, 2}, std::vector<float>{1, 2, 3, 4});
  CHECK(shell(binary() + " predict " + file("vector.h5") + " " + file("x.npy")).code == 0);
}

#include "convoke/nn/losses/loss.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

constexpr std::int64_t kClasses = 3;

// Two samples.
struct Lesson {
  std::vector<float> outputs{0.5F, -1.0F, 2.0F, 0.0F, 3.0F, -2.0F};
  std::vector<std::int32_t> labels{2, 0};
  std::vector<float> soft{0.25F, 0.25F, 0.5F, 0.125F, 0.75F, 0.125F};
  std::vector<float> weights;

  LossSums computed_by(const Loss& loss, float* gradient) const {
    return loss.compute({.outputs = outputs.data(),
                         .outputs_per_sample = kClasses,
                         .labels = labels,
                         .sample_weights = weights,
                         .batch = 2,
                         .soft_labels = soft},
                        gradient);
  }
};

// -sum_k q_k log softmax(z / T)_k of one sample.
double cross_entropy(const float* z, const float* q, double temperature) {
  double sum = 0, loss = 0;
  for (std::int64_t k = 0; k < kClasses; ++k) sum += std::exp(static_cast<double>(z[k]) / temperature);
  for (std::int64_t k = 0; k < kClasses; ++k) {
    loss -= static_cast<double>(q[k]) * (static_cast<double>(z[k]) / temperature - std::log(sum));
  }
  return loss;
}

}  // namespace

TEST_CASE("distillation mixes the loss of the labels with that of the soft labels, by hand") {
  Lesson batch;
  const double hard = batch.computed_by(*default_loss(), nullptr).loss;
  const double soft = cross_entropy(batch.outputs.data(), batch.soft.data(), 3) +
                      cross_entropy(batch.outputs.data() + 3, batch.soft.data() + 3, 3);
  const LossSums result = batch.computed_by(*distilled(default_loss(), 3, 0.75), nullptr);
  CHECK(result.loss == Approx(0.25 * hard + 0.75 * 9 * soft));
  CHECK(result.correct == 1);
  // A weight counts for both parts.
  batch.weights = {2, 0};
  const double first = std::log(std::exp(0.5) + std::exp(-1) + std::exp(2)) - 2;
  CHECK(batch.computed_by(*distilled(default_loss(), 3, 0.75), nullptr).loss ==
        Approx(2 * (0.25 * first + 0.75 * 9 * cross_entropy(batch.outputs.data(), batch.soft.data(), 3))));
}

TEST_CASE("the gradient of distillation is that of its loss") {
  Lesson batch;
  batch.weights = {0.5F, 2.0F};
  const LossPtr smooth = make_loss({{"name", "softmax_cross_entropy"}, {"label_smoothing", 0.1}});
  const LossPtr loss = distilled(smooth, 2.5, 0.6);
  std::vector<float> gradient(6);
  batch.computed_by(*loss, gradient.data());
  for (std::size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    constexpr float kStep = 1.0F / 256;
    Lesson more = batch, less = batch;
    more.outputs[i] += kStep;
    less.outputs[i] -= kStep;
    const double slope =
        (more.computed_by(*loss, nullptr).loss - less.computed_by(*loss, nullptr).loss) / (2 * kStep) / 2;
    CHECK(static_cast<double>(gradient[i]) == Approx(slope).margin(1e-4));
  }
}

TEST_CASE("distillation of weight 0 is the loss of the labels; one-hot soft labels at T = 1 are labels") {
  Lesson batch;
  std::vector<float> expected(6), found(6);
  const LossSums plain = batch.computed_by(*default_loss(), expected.data());
  CHECK(batch.computed_by(*distilled(default_loss(), 4, 0), found.data()).loss == plain.loss);
  CHECK(found == expected);
  batch.soft = {0, 0, 1, 1, 0, 0};
  CHECK(batch.computed_by(*distilled(default_loss(), 1, 1), found.data()).loss == Approx(plain.loss));
  for (std::size_t i = 0; i < 6; ++i) CHECK(found[i] == Approx(expected[i]).margin(1e-6));
}

TEST_CASE("distillation evaluates as its base, and needs softmax and soft labels") {
  const LossPtr loss = distilled(default_loss(), 2, 0.5);
  CHECK(loss->settings() == default_loss()->settings());
  CHECK(loss->of(std::vector<float>{0.5F, 0.25F, 0.25F}, 0) == Approx(std::log(2)));
  CHECK_THROWS(distilled(make_loss({{"name", "mean_squared_error"}}), 2, 0.5));
  Lesson batch;
  batch.soft.clear();
  CHECK_THROWS(batch.computed_by(*loss, nullptr));
}

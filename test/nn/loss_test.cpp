// Losses against Keras and against differences, and errors in their options.
#include "convoke/nn/losses/loss.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

// Two samples of three outputs, and four samples of one.
const std::vector<float> kThree{0.5F, -1.25F, 2.0F, 1.5F, 0.25F, -0.75F};
const std::vector<std::int32_t> kThreeLabels{2, 1};
const std::vector<float> kOne{-2.0F, -0.25F, 0.75F, 3.0F};
const std::vector<std::int32_t> kOneLabels{0, 1, 1, 0};

struct MeanAndGradient {
  double mean;
  std::vector<float> gradient;
};

MeanAndGradient computed(const Loss& loss, const std::vector<float>& outputs,
                         const std::vector<std::int32_t>& labels) {
  const auto n = static_cast<std::int64_t>(labels.size());
  const auto each = static_cast<std::int64_t>(outputs.size()) / n;
  std::vector<float> gradient(outputs.size());
  const double sum = loss.compute({outputs.data(), each, labels, {}, n}, gradient.data()).loss;
  return {sum / static_cast<double>(n), gradient};
}

/// The mean loss alone, without a gradient.
double mean_loss(const Settings& settings, const std::vector<float>& outputs,
                 const std::vector<std::int32_t>& labels) {
  const auto n = static_cast<std::int64_t>(labels.size());
  const auto each = static_cast<std::int64_t>(outputs.size()) / n;
  return make_loss(settings)->compute({outputs.data(), each, labels, {}, n}, nullptr).loss /
         static_cast<double>(n);
}

std::string error_of_loss(const Settings& settings) {
  return error_of([&] { make_loss(settings); });
}

}  // namespace

TEST_CASE("softmax cross-entropy: large logits, ties, the share of the batch") {
  const std::vector<float> x{1000, 0, -1000, 1, 1, 1};
  const std::vector<std::int32_t> labels{1, 0};
  std::vector<float> dx(6);
  const LossSums result = default_loss()->compute({x.data(), 3, labels, {}, 4}, dx.data());
  CHECK(result.loss == Approx(1000 + std::log(3.0)));
  CHECK(result.correct == 1);  // of equal logits the first is the prediction
  const std::vector<float> expected{0.25F, -0.25F, 0, -2.0F / 12, 1.0F / 12, 1.0F / 12};
  for (std::size_t i = 0; i < 6; ++i) CHECK(dx[i] == Approx(expected[i]).margin(1e-7));
}

TEST_CASE("losses equal Keras'") {
  // import keras, numpy as np; from keras import losses as L
  // z = np.array([[.5, -1.25, 2.], [1.5, .25, -.75]], "float32"); t = np.eye(3, dtype="float32")[[2, 1]]
  // y = np.array([[-2.], [-.25], [.75], [3.]], "float32"); b = np.array([[0.], [1.], [1.], [0.]], "float32")
  // L.CategoricalCrossentropy(from_logits=True, label_smoothing=s)(t, z) for s in (0, .1); weights [.5, 2,
  // 3]: sample_weight=[3., 2.]; L.BinaryCrossentropy(from_logits=True, label_smoothing=s)(b, y), (t, z);
  // L.MeanSquaredError()(b, y), (t, z); L.MeanAbsoluteError()(b, y), (t, z)
  const auto near = [](double value) { return Approx(value).epsilon(1e-6); };
  const Value weights(Value::Array{0.5, 2, 3});
  Settings s{{"name", "softmax_cross_entropy"}};
  CHECK(mean_loss(s, kThree, kThreeLabels) == near(0.9066473245620728));
  s.set("class_weights", weights);
  CHECK(mean_loss(s, kThree, kThreeLabels) == near(1.9296056032180786));
  s.set("label_smoothing", 0.1);
  CHECK(mean_loss(s, kThree, kThreeLabels) == near(2.1587722301483154));
  CHECK(mean_loss({{"label_smoothing", 0.1}}, kThree, kThreeLabels) == near(0.9816473126411438));
  s = {{"name", "sigmoid_cross_entropy"}};
  CHECK(mean_loss(s, kOne, kOneLabels) == near(1.0970814228057861));
  CHECK(mean_loss(s, kThree, kThreeLabels) == near(0.6695263385772705));
  s.set("label_smoothing", 0.1);
  CHECK(mean_loss(s, kOne, kOneLabels) == near(1.0908315181732178));
  CHECK(mean_loss(s, kThree, kThreeLabels) == near(0.6882762908935547));
  CHECK(mean_loss({{"name", "mean_squared_error"}}, kOne, kOneLabels) == near(3.65625));
  CHECK(mean_loss({{"name", "mean_squared_error"}}, kThree, kThreeLabels) == near(1.03125));
  CHECK(mean_loss({{"name", "mean_absolute_error"}}, kOne, kOneLabels) == near(1.625));
  CHECK(mean_loss({{"name", "mean_absolute_error"}}, kThree, kThreeLabels) == near(0.9583333134651184));
}

TEST_CASE("the loss of a mixture is the weighted sum of the losses of its labels") {
  const std::vector<std::int32_t> first{2, 1}, second{0, 1}, one_first{0, 1, 1, 0}, one_second{1, 1, 0, 0};
  const std::vector<float> weights{0.5F, 3}, one_weights{1, 2, 0.25F, 1}, second_weights{2, 0, 1.5F, 0.75F};
  for (const Settings& settings :
       {Settings{{"name", "softmax_cross_entropy"},
                 {"label_smoothing", 0.1},
                 {"class_weights", Value::Array{0.5, 2, 3}}},
        Settings{{"name", "softmax_focal"},
                 {"gamma", 1.5},
                 {"label_smoothing", 0.1},
                 {"class_weights", Value::Array{0.5, 2, 3}}},
        Settings{{"name", "sigmoid_cross_entropy"}, {"label_smoothing", 0.2}},
        Settings{{"name", "sigmoid_focal"}, {"gamma", 1.5}, {"label_smoothing", 0.2}},
        Settings{{"name", "mean_squared_error"}}, Settings{{"name", "mean_absolute_error"}}}) {
    for (const bool single : {false, true}) {
      if (single && make_loss(settings)->activation() == "softmax") continue;
      INFO(settings.entries()[0].second.to_string() << single);
      const LossPtr loss = make_loss(settings);
      const std::vector<float>& outputs = single ? kOne : kThree;
      const auto& a = single ? one_first : first;
      const auto& b = single ? one_second : second;
      const auto& w = single ? one_weights : weights;
      const std::span v = std::span(second_weights).first(a.size());
      const auto n = static_cast<std::int64_t>(a.size());
      const std::int64_t each = single ? 1 : 3;
      std::vector<float> shares{0.75F, 0.3F, 1, 0.5F}, dx(outputs.size());
      shares.resize(a.size());
      const LossSums mixed = loss->compute({outputs.data(), each, a, w, 8, b, shares, v}, dx.data());
      double expected = 0;
      std::int64_t correct = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        const auto k = static_cast<std::size_t>(each);
        const double share = static_cast<double>(shares[i]);
        std::vector<float> da(k), db(k);
        const auto alone = [&](const std::vector<std::int32_t>& labels, std::span<const float> own,
                               std::vector<float>& d) {
          return loss->compute(
              {outputs.data() + i * k, each, std::span(labels).subspan(i, 1), own.subspan(i, 1), 8},
              d.data());
        };
        const LossSums of_a = alone(a, w, da), of_b = alone(b, v, db);
        expected += share * of_a.loss + (1 - share) * of_b.loss;
        correct += share >= 0.5 ? of_a.correct : of_b.correct;
        for (std::size_t j = 0; j < k; ++j)
          CHECK(dx[i * k + j] ==
                Approx(share * static_cast<double>(da[j]) + (1 - share) * static_cast<double>(db[j]))
                    .margin(1e-7));
      }
      CHECK(n == static_cast<std::int64_t>(shares.size()));
      CHECK(mixed.loss == Approx(expected).epsilon(1e-6));
      CHECK(mixed.correct == correct);
    }
  }
}

TEST_CASE("gradients of losses equal finite differences") {
  const std::vector<Settings> all{
      {{"name", "softmax_cross_entropy"}},
      {{"name", "softmax_cross_entropy"},
       {"label_smoothing", 0.1},
       {"class_weights", Value::Array{0.5, 2, 3}}},
      {{"name", "softmax_focal"}},
      {{"name", "softmax_focal"},
       {"gamma", 0.5},
       {"label_smoothing", 0.1},
       {"class_weights", Value::Array{0.5, 2, 3}}},
      {{"name", "sigmoid_focal"}, {"gamma", 0.5}, {"label_smoothing", 0.2}},
      {{"name", "sigmoid_focal"}, {"gamma", 3.0}, {"class_weights", Value::Array{0.5, 2, 3}}},
      {{"name", "sigmoid_cross_entropy"}, {"label_smoothing", 0.2}},
      {{"name", "sigmoid_cross_entropy"}, {"class_weights", Value::Array{0.5, 2, 3}}},
      {{"name", "mean_squared_error"}},
      {{"name", "mean_absolute_error"}, {"class_weights", Value::Array{0.5, 2, 3}}}};
  const std::vector<float> sample_weights{0.25F, 1.5F};
  for (const Settings& settings : all) {
    const LossPtr loss = make_loss(settings);
    INFO(Value(loss->settings()).to_string());
    CHECK(make_loss(loss->settings())->settings() == loss->settings());
    std::vector<float> z = kThree, gradient(6);
    const auto sum = [&] {
      return loss->compute({z.data(), 3, kThreeLabels, sample_weights, 5}, nullptr).loss;
    };
    loss->compute({z.data(), 3, kThreeLabels, sample_weights, 5}, gradient.data());
    for (std::size_t i = 0; i < z.size(); ++i) {
      const float before = z[i];
      z[i] = before + 0x1p-8F;
      const double above = sum();
      z[i] = before - 0x1p-8F;
      const double below = sum();
      z[i] = before;
      CHECK(gradient[i] == Approx((above - below) / 0x1p-7 / 5).epsilon(1e-4).margin(1e-5));
    }
  }
}

TEST_CASE("one output stands for two classes, or for the nearest label") {
  const LossPtr binary = make_loss({{"name", "sigmoid_cross_entropy"}});
  CHECK(binary->fits(1, 2));
  CHECK(binary->fits(3, 3));
  CHECK(!binary->fits(1, 3));
  CHECK(binary->compute({kOne.data(), 1, kOneLabels, {}, 4}, nullptr).correct == 2);
  std::vector<float> two(2);
  binary->to_probabilities(std::vector<float>{0.75F}, two);
  CHECK(two == std::vector<float>{0.25F, 0.75F});
  CHECK(binary->of(std::vector<float>{0.75F}, 1) == Approx(-std::log(0.75)));

  const LossPtr graded = make_loss({{"name", "mean_squared_error"}});
  CHECK(graded->fits(1, 5));
  CHECK(!graded->fits(2, 5));
  const std::vector<float> grades{-0.6F, 1.4F, 6.2F, NAN};
  const std::vector<std::int32_t> labels{0, 1, 4, 0};
  LossInputs inputs{grades.data(), 1, labels, {}, 4};
  CHECK(graded->compute(inputs, nullptr).correct == 2);  // 6.2 may be nearest to a label 6
  inputs.classes = 5;
  CHECK(graded->compute(inputs, nullptr).correct == 3);  // NaN has no nearest label
  std::vector<float> five(5);
  graded->to_probabilities(std::vector<float>{7.2F}, five);
  CHECK(five == std::vector<float>{0, 0, 0, 0, 1});
  graded->to_probabilities(std::vector<float>{-3.0F}, five);
  CHECK(five == std::vector<float>{1, 0, 0, 0, 0});
  CHECK(make_loss({{"name", "mean_absolute_error"}})->of(std::vector<float>{1.5F}, 3) == 1.5);
}

TEST_CASE("unknown losses and options are refused") {
  CHECK(error_of_loss({{"name", "softmax_crossentropy"}}) ==
        "unknown loss \"softmax_crossentropy\" (did you mean \"softmax_cross_entropy\"?)");
  CHECK_THAT(error_of_loss({{"name", "mean_squared_error"}, {"label_smoothing", 0.1}}),
             Contains("label_smoothing"));
  CHECK_THAT(error_of_loss({{"label_smoothing", 1.0}}), Contains("at least 0 and below 1"));
  CHECK_THAT(error_of_loss({{"class_weights", Value::Array{1, -1}}}), Contains("at least 0"));
  CHECK_THAT(error_of_loss({{"class_weights", Value::Array{0.0, 0.0}}}), Contains("all class weights are 0"));
  CHECK(!make_loss({{"class_weights", Value::Array{1, 2}}})->fits(3, 3));
}

// The focal losses against torchvision and the paper's formula, at gamma = 0 and at their limits.

namespace {

void check_equal(const MeanAndGradient& got, double mean, const std::vector<double>& gradient) {
  CHECK(got.mean == Approx(mean).epsilon(1e-6));
  for (std::size_t i = 0; i < gradient.size(); ++i)
    CHECK(got.gradient[i] == Approx(gradient[i]).epsilon(1e-5));
}

Settings focal(const char* name, double gamma) { return {{"name", name}, {"gamma", gamma}}; }

}  // namespace

// import torch, torch.nn.functional as F; from torchvision.ops import sigmoid_focal_loss as S; d =
// torch.float64 z = torch.tensor([[.5, -1.25, 2.], [1.5, .25, -.75]], dtype=d, requires_grad=True); y =
// torch.tensor([2, 1]) t = F.one_hot(y, 3).to(d); w = torch.tensor([.5, 2, 3], dtype=d) def focal(z, t, g): p
// = z.softmax(1); return (t * (1 - p)**g * -p.log()).sum(1) o = torch.tensor([-2., -.25, .75, 3.], dtype=d,
// requires_grad=True) b = torch.tensor([0., 1., 1., 0.], dtype=d)

TEST_CASE("the softmax focal loss equals the formula in PyTorch") {
  // focal(z, t, 2).mean(), focal(z, t, .5).mean()
  CHECK(mean_loss({{"name", "softmax_focal"}}, kThree, kThreeLabels) ==
        Approx(0.5034717307954305).epsilon(1e-6));
  CHECK(mean_loss(focal("softmax_focal", 0.5), kThree, kThreeLabels) ==
        Approx(0.7573030503436489).epsilon(1e-6));
  // l = (focal(z, t, 2) * w[y]).mean(); torch.autograd.grad(l, z)
  Settings weighted = focal("softmax_focal", 2);
  weighted.set("class_weights", Value::Array{0.5, 2, 3});
  check_equal(computed(*make_loss(weighted), kThree, kThreeLabels), 1.0119536418787596,
              {0.03172020317395356, 0.0055121447925872355, -0.03723234796654079, 0.8243915778452843,
               -0.9112818108855092, 0.08689023304022478});
  // l = focal(z, .9 * t + .1 / 3, 2).mean(); torch.autograd.grad(l, z)
  Settings smooth = focal("softmax_focal", 2);
  smooth.set("label_smoothing", 0.1);
  check_equal(computed(*make_loss(smooth), kThree, kThreeLabels), 0.5811871229067805,
              {-0.002968226131772946, -0.016207993740642697, 0.01917621987241563, 0.39827098443491343,
               -0.4203639409955033, 0.022092956560589922});
}

TEST_CASE("the sigmoid focal loss equals torchvision's") {
  // S(o, b, alpha=-1, gamma=2, reduction="mean"), S(z, t, ...), S(o, b, alpha=-1, gamma=.5, ...)
  CHECK(mean_loss(focal("sigmoid_focal", 2), kOne, kOneLabels) == Approx(0.767233774833002).epsilon(1e-6));
  CHECK(mean_loss(focal("sigmoid_focal", 2), kThree, kThreeLabels) ==
        Approx(0.27986711432899947).epsilon(1e-6));
  CHECK(mean_loss(focal("sigmoid_focal", 0.5), kOne, kOneLabels) == Approx(0.9644113938122556).epsilon(1e-6));
  // l = S(o, b, alpha=.25, gamma=2, reduction="mean"); torch.autograd.grad(l, o)
  Settings alpha = focal("sigmoid_focal", 2);
  alpha.set("class_weights", Value::Array{0.75, 0.25});
  check_equal(computed(*make_loss(alpha), kOne, kOneLabels), 0.5378189441908134,
              {0.0009133012866361449, -0.025390213312626704, -0.00544435387679929, 0.2112656026190415});
}

TEST_CASE("with gamma = 0 a focal loss is cross-entropy, bit for bit") {
  for (const auto& [name, plain] : {std::pair{"softmax_focal", "softmax_cross_entropy"},
                                    std::pair{"sigmoid_focal", "sigmoid_cross_entropy"}}) {
    Settings with = focal(name, 0), without{{"name", plain}};
    for (Settings* each : {&with, &without}) {
      each->set("label_smoothing", 0.1);
      each->set("class_weights", Value::Array{0.5, 2, 3});
    }
    const MeanAndGradient a = computed(*make_loss(with), kThree, kThreeLabels);
    const MeanAndGradient b = computed(*make_loss(without), kThree, kThreeLabels);
    CHECK(a.mean == b.mean);
    CHECK(a.gradient == b.gradient);
    const std::vector<float> p{0.2F, 0.7F, 0.1F};
    CHECK(make_loss(with)->of(p, 2) == make_loss(without)->of(p, 2));
  }
}

TEST_CASE("a focal loss of certain and of impossible predictions is finite") {
  for (const char* name : {"softmax_focal", "sigmoid_focal"}) {
    for (const double gamma : {0.1, 1.0, 5.0}) {
      const LossPtr loss = make_loss(focal(name, gamma));
      INFO(name << ' ' << gamma);
      const std::vector<float> z{200, -200, -200};
      const MeanAndGradient right = computed(*loss, z, {0}), wrong = computed(*loss, z, {1});
      CHECK(right.mean == Approx(0).margin(1e-12));
      for (const float g : right.gradient) CHECK(g == Approx(0).margin(1e-12));
      const double each = std::string_view(name) == "softmax_focal" ? 400 : 400.0 / 3;
      CHECK(wrong.mean == Approx(each));
      for (const float g : wrong.gradient) CHECK(std::isfinite(g));
      CHECK(wrong.gradient[1] < 0);
    }
  }
}

TEST_CASE("predictions of evaluations use gamma, and NaN is the worst prediction") {
  const std::vector<float> p{0.25F, 0.5F, 0.25F}, one{0.25F}, broken{NAN, NAN, NAN};
  CHECK(make_loss(focal("softmax_focal", 2))->of(p, 0) == Approx(-0.5625 * std::log(0.25)));
  CHECK(make_loss(focal("sigmoid_focal", 2))->of(one, 1) == Approx(-0.5625 * std::log(0.25)));
  CHECK(make_loss(focal("sigmoid_focal", 2))->of(one, 0) == Approx(-0.0625 * std::log(0.75)));
  CHECK(make_loss(focal("softmax_focal", 2))->of(broken, 0) == Approx(-std::log(1e-7)));
  // As training reports it: softmax, then `of`.
  const LossPtr loss = make_loss(focal("softmax_focal", 1.5));
  std::vector<float> prediction(kThree.begin(), kThree.begin() + 3);
  apply_activation(*loss, prediction, 3);
  const std::vector<float> first(kThree.begin(), kThree.begin() + 3);
  CHECK(loss->of(prediction, 2) == Approx(computed(*loss, first, {2}).mean).epsilon(1e-5));
}

TEST_CASE("a focal loss is the loss of the labels in a distillation") {
  const LossPtr base = make_loss(focal("softmax_focal", 2)), loss = distilled(base, 2, 0);
  const std::vector<float> soft(6, 1.0F / 3);
  std::vector<float> gradient(6);
  LossInputs inputs{kThree.data(), 3, kThreeLabels, {}, 2};
  inputs.soft_labels = soft;
  const double sum = loss->compute(inputs, gradient.data()).loss;
  CHECK(sum / 2 == computed(*base, kThree, kThreeLabels).mean);
  CHECK(gradient == computed(*base, kThree, kThreeLabels).gradient);
}

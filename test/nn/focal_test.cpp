// The focal losses against torchvision and the paper's formula, at gamma = 0 and at their limits.
#include "convoke/nn/losses/distillation.hpp"
#include "convoke/nn/losses/loss.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

// Two samples of three outputs, and four samples of one.
const std::vector<float> kRows{0.5F, -1.25F, 2.0F, 1.5F, 0.25F, -0.75F};
const std::vector<std::int32_t> kRowLabels{2, 1};
const std::vector<float> kSingles{-2.0F, -0.25F, 0.75F, 3.0F};
const std::vector<std::int32_t> kSingleLabels{0, 1, 1, 0};

struct MeanAndGradient {
  double mean;
  std::vector<float> gradient;
};

MeanAndGradient computed(const LossPtr& loss, const std::vector<float>& outputs,
                         const std::vector<std::int32_t>& labels) {
  const auto n = static_cast<std::int64_t>(labels.size());
  const auto each = static_cast<std::int64_t>(outputs.size()) / n;
  std::vector<float> gradient(outputs.size());
  const double sum = loss->compute({outputs.data(), each, labels, {}, n}, gradient.data()).loss;
  return {sum / static_cast<double>(n), gradient};
}

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
  CHECK(computed(make_loss({{"name", "softmax_focal"}}), kRows, kRowLabels).mean ==
        Approx(0.5034717307954305).epsilon(1e-6));
  CHECK(computed(make_loss(focal("softmax_focal", 0.5)), kRows, kRowLabels).mean ==
        Approx(0.7573030503436489).epsilon(1e-6));
  // l = (focal(z, t, 2) * w[y]).mean(); torch.autograd.grad(l, z)
  Settings weighted = focal("softmax_focal", 2);
  weighted.set("class_weights", Value::Array{0.5, 2, 3});
  check_equal(computed(make_loss(weighted), kRows, kRowLabels), 1.0119536418787596,
              {0.03172020317395356, 0.0055121447925872355, -0.03723234796654079, 0.8243915778452843,
               -0.9112818108855092, 0.08689023304022478});
  // l = focal(z, .9 * t + .1 / 3, 2).mean(); torch.autograd.grad(l, z)
  Settings smooth = focal("softmax_focal", 2);
  smooth.set("label_smoothing", 0.1);
  check_equal(computed(make_loss(smooth), kRows, kRowLabels), 0.5811871229067805,
              {-0.002968226131772946, -0.016207993740642697, 0.01917621987241563, 0.39827098443491343,
               -0.4203639409955033, 0.022092956560589922});
}

TEST_CASE("the sigmoid focal loss equals torchvision's") {
  // S(o, b, alpha=-1, gamma=2, reduction="mean"), S(z, t, ...), S(o, b, alpha=-1, gamma=.5, ...)
  const auto mean = [](const Settings& s, const auto& x, const auto& y) {
    return computed(make_loss(s), x, y).mean;
  };
  CHECK(mean(focal("sigmoid_focal", 2), kSingles, kSingleLabels) == Approx(0.767233774833002).epsilon(1e-6));
  CHECK(mean(focal("sigmoid_focal", 2), kRows, kRowLabels) == Approx(0.27986711432899947).epsilon(1e-6));
  CHECK(mean(focal("sigmoid_focal", 0.5), kSingles, kSingleLabels) ==
        Approx(0.9644113938122556).epsilon(1e-6));
  // l = S(o, b, alpha=.25, gamma=2, reduction="mean"); torch.autograd.grad(l, o)
  Settings alpha = focal("sigmoid_focal", 2);
  alpha.set("class_weights", Value::Array{0.75, 0.25});
  check_equal(computed(make_loss(alpha), kSingles, kSingleLabels), 0.5378189441908134,
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
    const MeanAndGradient a = computed(make_loss(with), kRows, kRowLabels);
    const MeanAndGradient b = computed(make_loss(without), kRows, kRowLabels);
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
      const MeanAndGradient right = computed(loss, z, {0}), wrong = computed(loss, z, {1});
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
  std::vector<float> prediction(kRows.begin(), kRows.begin() + 3);
  apply_activation(*loss, prediction, 3);
  const std::vector<float> first(kRows.begin(), kRows.begin() + 3);
  CHECK(loss->of(prediction, 2) == Approx(computed(loss, first, {2}).mean).epsilon(1e-5));
}

TEST_CASE("a focal loss is the loss of the labels in a distillation") {
  const LossPtr base = make_loss(focal("softmax_focal", 2)), loss = distilled(base, 2, 0);
  const std::vector<float> soft(6, 1.0F / 3);
  std::vector<float> gradient(6);
  LossInputs inputs{kRows.data(), 3, kRowLabels, {}, 2};
  inputs.soft_labels = soft;
  const double sum = loss->compute(inputs, gradient.data()).loss;
  CHECK(sum / 2 == computed(base, kRows, kRowLabels).mean);
  CHECK(gradient == computed(base, kRows, kRowLabels).gradient);
}

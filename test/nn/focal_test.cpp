// The focal losses against torchvision and the paper's formula, at gamma = 0 and at their limits.
#include "convoke/nn/losses/loss.hpp"
#include "losses.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

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

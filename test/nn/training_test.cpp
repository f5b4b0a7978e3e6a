// Whole training steps against the reference and against Keras.
#include "convoke/nn/layer_table.hpp"
#include "convoke/nn/layers.hpp"
#include "convoke/nn/plan/network.hpp"
#include "golden.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

TEST_CASE("twenty steps of SGD equal the reference in double") {
  Graph graph({2, 8, 8});
  Symbol x = relu(batch_norm(conv2d(input(graph), {.filters = 6, .kernel = 3, .padding = Padding::same()})));
  x = max_pool(
      relu(batch_norm(conv2d(max_pool(x), {.filters = 16, .kernel = 3, .padding = Padding::same()}))));
  x = dropout(relu(dense(flatten(x), {.units = 12})), 0.2);
  softmax(dense(x, {.units = 3}));
  Experiment experiment(graph, {.micro_batch = 4, .micro_batches = 2});
  const ParameterLayout& layout = *experiment.layout;
  reference::Model model(graph, 4);
  model.parameters = by_name(layout, experiment.parameters.span());

  constexpr double kRate = 0.1;
  double loss = 0, first_loss = 0;
  for (std::uint32_t step = 0; step < 20; ++step) {
    const Batch batch(graph, 8, step % 4 * 8);
    const Outcome outcome = experiment.run(batch);
    for (std::size_t i = 0; i < layout.trainable_size(); ++i)
      experiment.parameters[i] -= static_cast<float>(kRate) * experiment.gradients[i];

    reference::Values values(8, graph.input_shape());
    std::copy(batch.input.begin(), batch.input.end(), values.data.begin());
    model.forward(values, true, batch.key());
    loss = model.loss(batch.labels);
    if (step == 0) first_loss = loss;
    CHECK(outcome.loss == Approx(loss).epsilon(1e-4));
    const reference::Parameters gradients = model.backward(batch.labels, 8);
    for (const ParameterSlot& slot : layout.slots()) {
      if (!slot.spec.trainable) continue;
      std::vector<double>& weights = model.parameters.at(slot.name);
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= kRate * gradients.at(slot.name)[i];
    }
  }
  CHECK(loss < 0.7 * first_loss);  // the network has learned
  const reference::Parameters actual = by_name(layout, experiment.parameters.span());
  for (const auto& [name, expected] : model.parameters) {
    INFO(name);
    CHECK(difference(actual.at(name), expected, 0.1) < 1e-4);
  }
}

namespace {

// Values of Keras 3.15 (TensorFlow 2.21):
//   fill = lambda k, *shape: (0.4 * np.sin(1.7 * np.arange(np.prod(shape)) + k)).reshape(shape)
//   i = keras.Input((6, 5, 2))
//   b = keras.layers.BatchNormalization()
//   x = keras.layers.ReLU()(b(keras.layers.Conv2D(4, 3, padding="same", name="c")(i)))
//   x = keras.layers.Permute((3, 1, 2))(keras.layers.MaxPooling2D(2)(x))
//   m = keras.Model(i, keras.layers.Dense(3, name="d")(keras.layers.Flatten()(x)))
//   m.get_layer("c").set_weights([fill(1, 4, 2, 3, 3).transpose(2, 3, 1, 0), fill(2, 4)])
//   b.set_weights([1 + fill(3, 4), fill(4, 4), fill(5, 4), 1 + fill(6, 4)])
//   m.get_layer("d").set_weights([fill(7, 3, 24).T, fill(8, 3)])
//   batch = 3 * fill(9, 4, 2, 6, 5).transpose(0, 2, 3, 1)
//   with tf.GradientTape() as t:
//     y = m(batch, training=True)
//     loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)([0, 2, 1, 1], y)
//   inference = m(batch, training=False)
//   t.gradient(loss, m.trainable_variables), kernels transposed to OIHW and OI
// (the gradient of the convolution's bias is rounding: a batch norm follows)
constexpr double kLoss = 1.801060676574707;
const std::vector<double> kLogits{0.8081979, -0.5628805, 0.1274143,  0.2780839, 0.0121044, -0.4914893,
                                  0.4816321, -0.1890983, -0.2929653, 1.790933,  -1.513859, 1.045061};
const std::vector<double> kInference{1.578864,  -1.295522,  0.8208187,   1.35263, -1.062151, 0.580696,
                                     0.7797993, -0.4721221, -0.02555382, 1.70302, -1.405651, 0.9167373};
const std::vector<double> kMovingMean{-0.3761022, 0.1581864, 0.3353151, -0.2446178};
const std::vector<double> kMovingVariance{0.881218, 1.382559, 1.000941, 0.5979238};
const reference::Parameters& keras_gradients() {
  static const reference::Parameters gradients{
      {"conv2d_1.weight",
       {0.4745401,    0.4179433,  0.08184002, -0.1052614, -0.09396482, -0.3767078,  -0.3069091, -0.2766683,
        0.3246259,    0.508565,   0.4252589,  -0.216357,  -0.415069,   -0.3582593,  -0.1692263, 0.04148867,
        -0.004688427, 0.3709326,  -0.3446159, -0.2985353, 0.01401265,  -0.04656125, 0.1164676,  0.2420131,
        0.4107947,    0.4000666,  -0.3774254, -0.4787804, -0.2752197,  0.2314158,   0.287312,   0.2671975,
        0.03949683,   0.3102238,  0.1052929,  -0.4930059, -0.9859193,  -0.5862381,  1.286922,   0.2966387,
        1.453746,     -0.5582032, -0.2805034, -0.6100512, 0.08500794,  -0.9497715,  0.4658853,  1.011112,
        0.7762753,    0.9677673,  -1.179138,  -0.5167438, -0.6820328,  0.5113151,   -0.8278474, -0.2864419,
        0.9724185,    0.5514147,  1.207231,   -0.9774092, 0.9210509,   -1.061796,   -0.5815458, -1.000194,
        0.4351012,    0.8785524,  1.300865,   0.2890068,  -1.463398,   0.1341581,   -1.232106,  0.295255}},
      {"batch_norm_1.gamma", {0.2054261, -0.356703, 0.9154016, -0.244879}},
      {"batch_norm_1.beta", {0.08082949, -0.2498985, 0.07508883, 0.252653}},
      {"dense_1.weight",
       {0.0917087,  0.5362396,  0.4362091,   0.3815754,   0.1556179,  0.4919951,  0.06990112,  0.2010877,
        0.1731957,  0.250732,   0.088737,    0.138085,    0.393863,   0.1517998,  0.5434695,   0.5895751,
        0.4585117,  0.1270899,  0.7099496,   0.3050596,   0.5517343,  0.9131293,  0.7414195,   0.3431526,
        -0.1262481, -0.408783,  -0.3679921,  -0.3248734,  -0.297665,  -0.3087491, -0.1848674,  -0.08692449,
        -0.2044912, -0.2819239, -0.203077,   -0.07596838, -0.6757237, 0.03989124, -0.4240857,  -0.6198741,
        -0.7221696, 0.1108244,  -0.8189411,  -0.07517797, -0.6965088, -0.7987688, -0.6580406,  -0.2835816,
        0.03453944, -0.1274567, -0.06821695, -0.05670194, 0.1420471,  -0.183246,  0.1149663,   -0.1141632,
        0.03129551, 0.03119191, 0.11434,     -0.06211657, 0.2818607,  -0.191691,  -0.1193838,  0.03029918,
        0.263658,   -0.2379142, 0.1089916,   -0.2298815,  0.1447746,  -0.1143604, -0.08337882, -0.05957088}},
      {"dense_1.bias", {0.2963763, -0.3071167, 0.01074039}},
  };
  return gradients;
}

}  // namespace

TEST_CASE("loss, gradients and statistics of a small CNN equal those of Keras") {
  Graph graph({2, 6, 5});
  const Symbol x = batch_norm(conv2d(input(graph), {.filters = 4, .kernel = 3, .padding = Padding::same()}));
  dense(flatten(max_pool(relu(x))), {.units = 3});
  Batch batch(graph, 4);
  batch.labels = {0, 2, 1, 1};
  batch.input = waves(9, 4 * 2 * 6 * 5, 0, 3);
  for (const bool training : {true, false}) {
    Experiment experiment(graph, {.micro_batch = 4, .training = training});
    set_waves(experiment);
    if (!training) {  // after the training step
      experiment.set("batch_norm_1.running_mean", {kMovingMean.begin(), kMovingMean.end()});
      experiment.set("batch_norm_1.running_variance", {kMovingVariance.begin(), kMovingVariance.end()});
    }
    const Outcome outcome = experiment.run(batch);
    if (!training) {
      CHECK(difference(outcome.output, kInference) < 1e-5);
      continue;
    }
    CHECK(difference(outcome.output, kLogits) < 1e-5);
    CHECK(outcome.loss / 4 == Approx(kLoss).epsilon(1e-5));
    for (const auto& [name, expected] : keras_gradients()) {
      INFO(name);
      CHECK(difference(outcome.gradients.at(name), expected) < 1e-5);
    }
    CHECK(difference(moved(experiment, outcome, "batch_norm_1.running_mean"), kMovingMean) < 1e-5);
    CHECK(difference(moved(experiment, outcome, "batch_norm_1.running_variance"), kMovingVariance) < 1e-5);
  }
}

// The gradient of a plan's input against finite differences of its loss.

TEST_CASE("the gradient of the input equals finite differences, and changes no other gradient") {
  const Graph graph = build_graph(Shape{3, 6, 6}, {{{"layer", "conv2d"}, {"filters", 4}, {"kernel", 3}},
                                                   {{"layer", "batch_norm"}},
                                                   {{"layer", "silu"}},
                                                   {{"layer", "average_pool"}, {"size", 2}},
                                                   {{"layer", "flatten"}},
                                                   {{"layer", "dense"}, {"units", 3}}});
  const auto layout = std::make_shared<const ParameterLayout>(graph, 4);
  const AlignedBuffer<float> parameters = initial_parameters(*layout, 5);
  const std::vector<std::int32_t> labels{0, 2, 1, 1};
  const std::vector<std::uint32_t> ids{0, 1, 2, 3};
  const StepKey key{.seed = 1, .samples = ids};
  std::vector<float> samples;
  for (int i = 0; i < 4 * 108; ++i) samples.push_back(static_cast<float>(std::sin(0.3 + 1.7 * i)));

  const auto run = [&](bool wanted, Network& network, AlignedBuffer<float>& gradients) {
    network.bind(parameters.data(), gradients.data());
    std::copy(samples.begin(), samples.end(), network.input().begin());
    network.forward(key);
    const double loss = network.loss(labels, 4).loss / 4;
    if (wanted) network.backward([](std::size_t) {});
    return loss;
  };
  AlignedBuffer<float> gradients(layout->gradient_size()), plain_gradients(layout->gradient_size());
  Network with(graph, layout, {.micro_batch = 4, .input_gradient = true}),
      without(graph, layout, {.micro_batch = 4});
  run(true, without, plain_gradients);
  run(true, with, gradients);
  CHECK(std::equal(gradients.span().begin(), gradients.span().end(), plain_gradients.span().begin()));
  const std::vector<float> found(with.input_gradient().begin(), with.input_gradient().end());
  REQUIRE(found.size() == samples.size());
  for (std::size_t i = 0; i < samples.size(); i += 7) {
    const float before = samples[i];
    samples[i] = before + 0x1p-5F;
    const double above = run(false, with, gradients);
    samples[i] = before - 0x1p-5F;
    const double below = run(false, with, gradients);
    samples[i] = before;
    CHECK(found[i] == Approx((above - below) / 0x1p-4).epsilon(0.02).margin(2e-4));
  }
}

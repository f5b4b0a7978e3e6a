// What the outputs of a network are, whatever layers follow its last activation.
#include "convoke/nn/losses/outputs.hpp"
#include "convoke/nn/layer_table.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

Graph network(std::vector<Settings> layers) {
  layers.insert(layers.begin(), {{"layer", "flatten"}, {"name", "features"}});
  return build_graph({2, 2, 1}, layers);
}

// Two softmaxes over three classes, `last` of which follows.
Graph two_softmaxes(std::vector<Settings> last) {
  std::vector<Settings> layers;
  for (const char* name : {"a", "b"}) {
    layers.push_back({{"layer", "dense"}, {"units", 3}, {"inputs", Value::Array{"features"}}});
    layers.push_back({{"layer", "softmax"}, {"name", name}});
  }
  last.front().set("inputs", Value::Array{"a", "b"});
  layers.insert(layers.end(), last.begin(), last.end());
  return network(layers);
}

const Settings kDense{{"layer", "dense"}, {"units", 3}}, kSoftmax{{"layer", "softmax"}},
    kSigmoid{{"layer", "sigmoid"}}, kFlatten{{"layer", "flatten"}}, kRelu{{"layer", "relu"}},
    kImage{{"layer", "reshape"}, {"shape", Value::Array{3, 1, 1}}};

Settings rescale(double scale, double offset) {
  return {{"layer", "rescale"}, {"scale", scale}, {"offset", offset}};
}

Settings bound(const char* function, const char* number) {
  return {{"layer", "elementwise"}, {"function", function}, {"operands", Value::Array{"x", number}}};
}

}  // namespace

TEST_CASE("probabilities stay probabilities through layers that keep them") {
  const auto ends_in = [](const Graph& graph) { return activation_of_outputs(graph); };
  CHECK(ends_in(network({kDense})) == "");
  CHECK(ends_in(network({kDense, kSoftmax})) == "softmax");
  CHECK(ends_in(network({kDense, kSigmoid})) == "sigmoid");
  CHECK(ends_in(network({kDense, kImage, kSoftmax, kFlatten})) == "softmax");
  CHECK(ends_in(network({kDense, kSoftmax, {{"layer", "dropout"}, {"rate", 0.5}}})) == "softmax");
  CHECK(ends_in(network({kDense, kSoftmax, {{"layer", "slice"}, {"begin", 1}, {"size", 1}}})) == "sigmoid");
  CHECK(ends_in(two_softmaxes({{{"layer", "average"}}})) == "softmax");
  CHECK(ends_in(two_softmaxes({{{"layer", "add"}}, rescale(0.5, 0)})) == "softmax");
  CHECK(ends_in(two_softmaxes({{{"layer", "maximum"}}})) == "sigmoid");
  CHECK(ends_in(network({kDense, kSoftmax, kRelu})) == "softmax");
  CHECK(ends_in(network({kDense, {{"layer", "tanh"}}, rescale(0.5, 0.5)})) == "sigmoid");
  // A clamp to [1e-6, 1], as readers of files write it.
  CHECK(ends_in(network({kDense, kSoftmax, rescale(1, -1e-6), kRelu, rescale(1, 1e-6)})) == "softmax");
  // As ONNX's Min and QDQ models end.
  CHECK(ends_in(network({kDense, kSoftmax, bound("minimum", "1")})) == "softmax");
  CHECK(ends_in(network({kDense, kSoftmax, bound("minimum", "0.99609375"), bound("maximum", "0")})) ==
        "softmax");
  CHECK(ends_in(network({kDense, kSigmoid, bound("minimum", "0.99609375")})) == "sigmoid");
  CHECK(ends_in(network({kDense, kSoftmax, bound("minimum", "0.5")})) == "sigmoid");
  CHECK(ends_in(network({kDense, bound("greater", "0.5")})) == "sigmoid");
  // These are no probabilities of one right class.
  CHECK(ends_in(two_softmaxes({{{"layer", "add"}}})) == "");
  CHECK(ends_in(two_softmaxes({{{"layer", "subtract"}}})) == "");
  CHECK(ends_in(two_softmaxes({{{"layer", "concat"}}})) == "sigmoid");
  CHECK(ends_in(network({kDense, kSoftmax, rescale(2, 0)})) == "");
  CHECK(ends_in(network({kDense, kSoftmax, kDense})) == "");
  CHECK(ends_in(network({kDense, {{"layer", "relu6"}}})) == "");
  // A softmax for each of four pixels; its mean over them is one again.
  const Graph pixels = build_graph({3, 2, 2}, {kSoftmax, kFlatten});
  CHECK(ends_in(pixels) == "sigmoid");
  CHECK(ends_in(build_graph({3, 2, 2}, {kSoftmax, {{"layer", "global_average_pool"}}})) == "softmax");
}

TEST_CASE("numbers stay above 0 through sums, products, means and padding") {
  const auto never = [](std::vector<Settings> layers, const Settings& last) {
    layers.push_back({{"layer", "relu"}, {"name", "other"}, {"inputs", Value::Array{"input"}}});
    layers.push_back(last);
    const Graph graph = build_graph({2, 4, 4}, layers);
    return never_negative(graph, graph.nodes().size() - 1);
  };
  for (const char* merging : {"add", "multiply", "concat", "average", "maximum"}) {
    const Settings last{{"layer", merging}, {"inputs", Value::Array{"x", "other"}}};
    CHECK(never({{{"layer", "relu"}, {"name", "x"}}}, last));
    CHECK(never({{{"layer", "silu"}, {"name", "x"}}}, last) == (merging == std::string("maximum")));
  }
  for (const char* layer : {"average_pool", "max_pool", "zero_pad"}) CHECK(never({}, {{"layer", layer}}));
  CHECK(!never({}, {{"layer", "conv2d"}, {"filters", 2}, {"kernel", 1}}));
}

TEST_CASE("the key `outputs` of a loss decides, and otherwise the network") {
  const Graph logits = network({kDense}), flat = network({kDense, kImage, kSoftmax, kFlatten});
  const auto with = [](const char* outputs) {
    return make_loss({{"name", "softmax_cross_entropy"}, {"outputs", outputs}});
  };
  CHECK_FALSE(outputs_are_activated(logits, *default_loss()));
  CHECK(outputs_are_activated(flat, *default_loss()));
  CHECK(outputs_are_activated(logits, *with("probabilities")));
  CHECK_FALSE(outputs_are_activated(flat, *with("logits")));
  CHECK(with("auto")->settings() == default_loss()->settings());
  CHECK_FALSE(with("logits")->settings() == default_loss()->settings());
  CHECK_THROWS_WITH(with("odds"), Contains("outputs"));
}

TEST_CASE("views behind the softmax change nothing in training") {
  const Graph last = network({kDense, kSoftmax}), behind = network({kDense, kImage, kSoftmax, kFlatten});
  Experiment a(last, {.micro_batch = 3}), b(behind, {.micro_batch = 3});
  const Batch batch(last, 3);
  const Outcome one = a.run(batch), two = b.run(batch);
  CHECK(one.loss == two.loss);
  CHECK(one.gradients.at("dense_1.weight") == two.gradients.at("dense_1.weight"));
}

TEST_CASE("a mean of softmaxes is trained by its probabilities: finite differences") {
  for (const bool sigmoid : {false, true}) {
    INFO(sigmoid);
    const Graph graph = sigmoid ? network({{{"layer", "dense"}, {"units", 1}}, kSigmoid, rescale(0.5, 0.25)})
                                : two_softmaxes({{{"layer", "average"}}});
    const LossPtr loss = make_loss({{"name", sigmoid ? "sigmoid_cross_entropy" : "softmax_cross_entropy"}});
    Batch batch(graph, 3);
    if (sigmoid) batch.labels = {0, 1, 1};
    Experiment training(graph, {.micro_batch = 3, .loss = loss.get()});
    Experiment inference(graph, {.micro_batch = 3, .training = false, .loss = loss.get()});
    // -mean log p of the label
    const auto expected_loss = [&](const AlignedBuffer<float>& parameters) {
      std::copy(parameters.span().begin(), parameters.span().end(), inference.parameters.span().begin());
      const std::vector<double> p = inference.run(batch).output;
      double sum = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const auto label = static_cast<std::size_t>(batch.labels[i]);
        sum -= std::log(!sigmoid ? p[3 * i + label] : label == 1 ? p[i] : 1 - p[i]);
      }
      return sum / 3;
    };
    AlignedBuffer<float>& values = training.parameters;
    const Outcome step = training.run(batch);
    CHECK(step.loss / 3 == Approx(expected_loss(values)).epsilon(1e-5));
    std::int64_t checked = 0;
    for (std::size_t i = 0; i < training.layout->trainable_size(); ++i) {
      constexpr float kStep = 1e-2F;
      const auto gradient = static_cast<double>(training.gradients.span()[i]);
      if (std::isnan(gradient)) continue;  // padding; that within a layout has a gradient of 0
      ++checked;
      const float own = values.span()[i];
      values.span()[i] = own + kStep;
      const double above = expected_loss(values);
      values.span()[i] = own - kStep;
      const double below = expected_loss(values);
      values.span()[i] = own;
      CHECK(gradient == Approx((above - below) / (2 * static_cast<double>(kStep))).margin(2e-4));
    }
    CHECK(checked >= graph.trainable_count());
  }
}

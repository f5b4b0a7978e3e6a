#include "convoke/engine/evaluator.hpp"
#include "support/catch.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

using namespace convoke;
using engine::Evaluator;

TEST_CASE("the mean loss of many samples is exact for large losses, and not finite if one loss is not") {
  const tiny::Pictures pictures(3000);
  const auto score_of = [&](Evaluator& evaluator, std::vector<float> parameters) {
    evaluator.load(parameters);
    return engine::score(evaluator, pictures.loader(), pictures.ids(), world());
  };
  // Only the bias of the last layer counts: a squared error of about 1e10 for each sample.
  const nn::Graph graph = nn::build_graph(
      Shape{1, 8, 8}, {{{"layer", "flatten"}}, {{"layer", "dense"}, {"units", 1}, {"activation", "linear"}}});
  Evaluator regression(graph, {.loss = nn::make_loss({{"name", "mean_squared_error"}}), .classes = 4});
  std::vector<float> parameters(65, 0.0F);
  parameters.back() = 1e5F;
  double expected = 0;
  for (const std::int32_t label : pictures.labels) expected += std::pow(1e5 - label, 2) / 3000;
  CHECK(score_of(regression, parameters).loss == Approx(expected).epsilon(1e-12));
  parameters.back() = std::nanf("");
  CHECK(std::isinf(score_of(regression, parameters).loss));

  Evaluator classifier(tiny::graph());
  CHECK(std::isfinite(score_of(classifier, tiny::parameters(4)).loss));
  CHECK(std::isinf(score_of(classifier, std::vector<float>(classifier.parameter_values(), NAN)).loss));
}

TEST_CASE("the objective is the loss of training: with smoothing, weights and penalties, by a slow loop") {
  const tiny::Pictures pictures(90);
  std::vector<float> weights;
  for (std::size_t i = 0; i < 90; ++i) weights.push_back(0.25F * static_cast<float>(i % 7));
  const bool weighted = GENERATE(false, true), penalized = GENERATE(false, true);
  const bool softmax = GENERATE(false, true);  // at the end of the network
  const double smoothing = GENERATE(0.0, 0.3);
  Settings dense{{"layer", "dense"}, {"units", 4}};
  if (softmax) dense.set("activation", "softmax");
  if (penalized) {
    dense.set("l1", 0.01);
    dense.set("l2", 0.02);
  }
  const nn::Graph graph = nn::build_graph(Shape{1, 8, 8}, {{{"layer", "flatten"}}, dense});
  const std::vector<double> classes =
      weighted ? std::vector<double>{1, 2, 0.5, 3} : std::vector<double>(4, 1);
  Settings loss{{"name", "softmax_cross_entropy"}, {"label_smoothing", smoothing}};
  if (weighted) loss.set("class_weights", Value::Array(classes.begin(), classes.end()));
  std::vector<float> parameters;  // (4, 64), then 4 of the bias
  for (int i = 0; i < 260; ++i) parameters.push_back(0.1F * static_cast<float>(i * 37 % 23 - 11));

  data::Split split = pictures.split();
  if (weighted) split.weights = weights;
  const data::BatchLoader loader(split, Shape{1, 8, 8}, data::Normalization{{1.0F / 255}, {0}});
  Evaluator evaluator(graph, {.loss = nn::make_loss(loss)});
  evaluator.load(parameters);
  const engine::Score score = engine::score(evaluator, loader, pictures.ids(), world());

  double sum = 0, plain = 0, penalty = 0;
  for (std::size_t i = 0; i < 90; ++i) {
    std::vector<double> z;
    double exponentials = 0, mean = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      z.push_back(parameters[256 + k]);
      for (std::size_t p = 0; p < 64; ++p)
        z[k] += parameters[64 * k + p] * pictures.samples[64 * i + p] / 255.0;
      exponentials += std::exp(z[k]);
      mean += z[k] / 4;
    }
    const auto label = static_cast<std::size_t>(pictures.labels[i]);
    plain += std::log(exponentials) - z[label];
    sum += (weighted ? weights[i] * classes[label] : 1) *
           (std::log(exponentials) - (1 - smoothing) * z[label] - smoothing * mean);
  }
  for (std::size_t i = 0; penalized && i < 256; ++i) {
    const double w = parameters[i];
    penalty += 0.01 * std::abs(w) + 0.02 * w * w;
  }
  CHECK(score.loss == Approx(plain / 90).epsilon(1e-4));
  if (weighted || penalized || smoothing > 0) {
    CHECK(score.objective == Approx(sum / 90 + penalty).epsilon(1e-4));
  } else {
    CHECK(std::isnan(score.objective));
  }
}

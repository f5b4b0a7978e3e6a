#include <cmath>

#include "convoke/engine/evaluator.hpp"
#include "convoke/mpi/session.hpp"
#include "support/catch.hpp"
#include "support/tiny.hpp"

using namespace convoke;
using engine::Evaluator;

TEST_CASE("the mean loss of many samples is exact for large losses, and not finite if one loss is not") {
  const mpi::Session session;
  const tiny::Pictures pictures(3000);
  const auto score_of = [&](Evaluator& evaluator, std::vector<float> parameters) {
    evaluator.load(parameters);
    return engine::score(evaluator, pictures.loader(), pictures.ids(), session.world());
  };
  // Only the bias of the last layer counts: a squared error of about 1e10 for each sample.
  const nn::Graph graph = nn::build_graph(
      Shape{1, 8, 8}, {{{"layer", "flatten"}}, {{"layer", "dense"}, {"units", 1}, {"activation", "linear"}}});
  Evaluator regression(graph, {.loss = nn::make_loss({{"name", "mean_squared_error"}}), .classes = 4});
  std::vector<float> parameters(65, 0.0F);
  parameters.back() = 1e5F;
  double expected = 0;
  for (const std::int32_t label : pictures.labels) expected += std::pow(1e5 - label, 2) / 3000;
  CHECK(score_of(regression, parameters).loss == Catch::Approx(expected).epsilon(1e-12));
  parameters.back() = std::nanf("");
  CHECK(std::isinf(score_of(regression, parameters).loss));

  Evaluator classifier(tiny::graph());
  CHECK(std::isfinite(score_of(classifier, tiny::parameters(4)).loss));
  CHECK(std::isinf(score_of(classifier, std::vector<float>(classifier.parameter_values(), NAN)).loss));
}

// Scores and members in summary.json, compared with independent counts.
#include "apps/place.hpp"
#include "convoke/data_prep/files/npy.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"

TEST_CASE(
    "summary.json has top-k, kappa and AUC equal to counts from predict, and the members that stopped "
    "early") {
  const Place place;
  const Outcome outcome = place.train(
      "run",
      "--set train.mode=ensemble --set ensemble.members=2 --set train.top_k=2 --set train.epochs=40 "
      "--set 'train.early_stopping={ patience = 1, monitor = \"validation_accuracy\" }'",
      2);
  CAPTURE(outcome.text);
  REQUIRE(outcome.code == 0);
  const std::string summary = bytes_of(place / "run/summary.json");
  CAPTURE(summary);
  const auto number = [&](const std::string& key) { return summary_number(place / "run", "test." + key); };

  // Compares the facts of both members with the lines of metrics.jsonl.
  const std::string lines = bytes_of(place / "run/metrics.jsonl");
  for (const std::string member : {"0", "1"}) {
    const Match step =
        first_match(lines, "\"event\":\"early_stopping\",\"member\":" + member + ",\"step\":([0-9]+)");
    REQUIRE(!step.empty());
    CHECK(!first_match(summary, "\"member\": " + member + ",[^}]*\"stopped_at_step\": " + step[1] + "\\b")
               .empty());
    const Match epoch = first_match(lines, "\"event\":\"epoch\",\"member\":" + member +
                                               ",\"epoch\":([0-9]+),\"epochs\":40,\"step\":" + step[1] + ",");
    REQUIRE(!epoch.empty());
    CHECK(outcome.times("member " + member + " stopped early after " + step[1] + " steps, in epoch " +
                        epoch[1] + "\n") == 1);
  }

  // Top-2, quadratic kappa and AUC by slow counts over the mean probabilities.
  REQUIRE(place.run("predict run data.h5 --output p.npy").code == 0);
  const auto table = std::get<std::vector<float>>(convoke::data_prep::read_npy(place / "p.npy").values);
  const std::vector<std::int32_t> truth = Pictures(60, 8, 4, 2).labels;
  REQUIRE(table.size() == truth.size() * 5);
  const auto p = [&](std::size_t i, std::size_t c) { return table[5 * i + 1 + c]; };
  double hits = 0, areas = 0, observed = 0, expected = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    const auto label = static_cast<std::size_t>(truth[i]);
    int better = 0;
    for (std::size_t c = 0; c < 4; ++c) better += p(i, c) > p(i, label);
    hits += better < 2;
    for (std::size_t j = 0; j < 60;
         ++j) {  // (i - j)^2 over observed counts, and over counts expected by chance
      const double difference = static_cast<double>(truth[i]) - static_cast<double>(table[5 * j]);
      if (i == j) observed += difference * difference;
      expected += difference * difference / 60;
    }
  }
  for (std::size_t c = 0; c < 4; ++c) {
    double ordered = 0, pairs = 0;
    for (std::size_t i = 0; i < 60; ++i) {
      for (std::size_t j = 0; j < 60; ++j) {
        if (truth[i] != static_cast<std::int32_t>(c) || truth[j] == static_cast<std::int32_t>(c)) continue;
        ++pairs;
        ordered += p(i, c) > p(j, c) ? 1 : p(i, c) == p(j, c) ? 0.5 : 0;
      }
    }
    areas += ordered / pairs / 4;
  }
  CHECK(number("top_k") == 2);
  CHECK(number("top_k_accuracy") == Approx(hits / 60));
  CHECK(number("roc_auc") == Approx(areas).margin(2e-3));  // predict rounds to floats, which may break ties
  CHECK(number("quadratic_kappa") == Approx(1 - observed / expected).margin(1e-9));
}

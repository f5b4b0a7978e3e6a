#include "convoke/train/mistakes.hpp"

#include <tuple>

#include "convoke/core/random.hpp"
#include "convoke/train/verdict.hpp"
#include "convoke/vote/rule.hpp"
#include "support/catch.hpp"
#include "support/tiny.hpp"
#include "support/world.hpp"

using namespace convoke;

namespace {

constexpr std::int64_t kMembers = 3, kClasses = 4;

// Predictions in sixteenths, so that some means are equal.
struct Polled {
  std::vector<std::uint32_t> ids;
  std::vector<std::int32_t> truth;
  std::vector<float> probabilities;  // (members, samples, classes)

  Polled(std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t id = first; id < last; ++id) {
      ids.push_back(id);
      truth.push_back(static_cast<std::int32_t>(id % kClasses));
    }
    for (std::uint64_t m = 0; m < kMembers; ++m) {
      for (const std::uint32_t id : ids) {
        RandomStream random({5 + m, Purpose::kBench, 0, id});
        for (int c = 0; c < kClasses; ++c) {
          probabilities.push_back(static_cast<float>(random.below(5)) / 16);
        }
      }
    }
  }
  // The values of a member.
  std::span<const float> predictions(std::size_t member) const {
    const std::size_t values = ids.size() * kClasses;
    return std::span(probabilities).subspan(member * values, values);
  }
  vote::VoteCounts counts() const {
    vote::VoteCounts all(static_cast<std::int64_t>(ids.size()), kClasses);
    for (std::size_t m = 0; m < kMembers; ++m) all.add(predictions(m));
    return all;
  }
  std::vector<train::Mistake> worst(std::size_t rule, std::size_t most,
                                    const mpi::Communicator& group) const {
    train::Votes votes;
    for (std::size_t m = 0; m < kMembers; ++m)
      votes.add(predictions(m), vote::labels_in(predictions(m), kClasses));
    for (const std::string& name : vote::rule_names())
      votes.elected.push_back(vote::elect(vote::find_rule(name), counts()));
    return train::worst_mistakes(votes, rule, counts().mean_probabilities(), truth, ids, most, group);
  }
};

}  // namespace

TEST_CASE("the worst mistakes of each rule are collected from all ranks, with the vote of each member") {
  constexpr std::uint32_t kSamples = 101;
  const auto begin_of = [&](int rank) {
    return kSamples * static_cast<std::uint32_t>(rank) / static_cast<std::uint32_t>(world().size());
  };
  const Polled mine(begin_of(world().rank()), begin_of(world().rank() + 1));
  const Polled all(0, kSamples);

  const std::vector<double> mean = all.counts().mean_probabilities();
  const std::vector<std::int32_t> by_majority = vote::elect(vote::find_rule("majority"), all.counts());
  const std::vector<std::int32_t> labels = vote::labels_in(all.probabilities, kClasses);
  for (std::size_t rule = 0; rule < vote::rule_names().size(); ++rule) {
    CAPTURE(rule);
    // Expected, by a plain loop: (mean probability of the truth, id) of the samples that the rule gets wrong.
    const std::vector<std::int32_t> elected =
        vote::elect(vote::find_rule(vote::rule_names()[rule]), all.counts());
    std::vector<std::pair<double, std::int64_t>> expected;
    for (std::uint32_t i = 0; i < kSamples; ++i) {
      if (elected[i] != all.truth[i])
        expected.emplace_back(mean[i * kClasses + static_cast<std::size_t>(all.truth[i])], i);
    }
    std::sort(expected.begin(), expected.end());

    for (const std::size_t most : {std::size_t{0}, std::size_t{7}, std::size_t{1000}}) {
      const std::vector<train::Mistake> found = mine.worst(rule, most, world());
      REQUIRE(found.size() == std::min(most, expected.size()));
      for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        const auto sample = static_cast<std::size_t>(found[i].sample);
        CHECK(std::pair(found[i].probability, found[i].sample) == expected[i]);
        CHECK(found[i].truth == all.truth[sample]);
        REQUIRE(found[i].votes.size() == kMembers);
        for (std::size_t m = 0; m < kMembers; ++m) {
          CHECK(found[i].votes[m] == labels[m * kSamples + sample]);
          CHECK(found[i].probabilities[m] ==
                static_cast<double>(all.probabilities[(m * kSamples + sample) * kClasses +
                                                      static_cast<std::size_t>(found[i].votes[m])]));
        }
        CHECK(found[i].elected.at(0) == by_majority[sample]);
      }
    }
  }
}

TEST_CASE("models that predict the label as a number have no scores of probabilities, but outputs") {
  const tiny::Pictures pictures(41);
  const data::BatchLoader loader = pictures.loader();
  const nn::Graph graph =
      nn::build_graph(Shape{1, 8, 8}, {{{"layer", "flatten"}}, {{"layer", "dense"}, {"units", 1}}});
  engine::Evaluator evaluator(graph, {.loss = nn::make_loss({{"name", "mean_squared_error"}}), .classes = 4});
  std::array members{std::vector<float>(65), std::vector<float>(65)};
  members[0].back() = 1.25F, members[1].back() = 1.75F;  // the labels 1 and 2; the vote is 1, the mean 1.5
  const train::Evaluation evaluation = train::evaluate(
      evaluator, 2,
      [&](std::int64_t m) { return std::span<const float>(members.at(static_cast<std::size_t>(m))); }, loader,
      pictures.ids(), world(), 2);
  const Settings summary = train::evaluation_summary(evaluation, "majority", {0, 1});
  const Settings details = train::evaluation_details(evaluation, "majority", {0, 1}, {});
  for (const char* key : {"ece", "roc_auc", "top_k_accuracy"}) CHECK(summary.find(key) == nullptr);
  for (const char* key : {"calibration", "member_calibration", "roc"}) CHECK(details.find(key) == nullptr);
  CHECK_THAT(train::evaluation_text(evaluation, "majority", {0, 1}, {}),
             !Contains("ECE") && !Contains("ROC"));
  const auto ones = std::ranges::count(pictures.labels, 1);
  CHECK(*summary.find("accuracy") == Value(static_cast<double>(ones) / 41));
  // The farthest from 1.5 are 0 and 3, by their place, then 2.
  const std::vector<train::Mistake>& mistakes = evaluation.rule("majority").mistakes;
  REQUIRE(std::ssize(mistakes) == std::min<std::ptrdiff_t>(36, 41 - ones));
  const auto near = [](const train::Mistake& each) { return std::pair(each.truth == 2, each.sample); };
  CHECK(std::ranges::is_sorted(mistakes, {}, near));
  const Settings worst = train::to_settings(mistakes.front(), evaluation.numbers);
  CHECK(*worst.find("output") == Value(1.5));
  CHECK(*worst.find("outputs") == Value(Value::Array{1.25, 1.75}));
  CHECK(worst.find("probability") == nullptr);
}

TEST_CASE("details of an evaluation leave out zero counts") {
  train::Evaluation evaluation;
  evaluation.samples = 3;
  metrics::ConfusionMatrix matrix(3);
  matrix.add(std::vector<std::int32_t>{0, 0, 2}, std::vector<std::int32_t>{0, 2, 2});
  evaluation.rules.push_back({"majority", {2.0 / 3}, matrix});
  evaluation.diversity = vote::Diversity(2);
  evaluation.diversity.add(std::vector<std::int32_t>{0, 2, 2, 0, 1, 2}, std::vector<std::int32_t>{0, 0, 2});
  evaluation.calibration.add(0.5, true);
  evaluation.member_calibration = {evaluation.calibration, evaluation.calibration};
  evaluation.rules.back().mistakes.push_back({.sample = 1,
                                              .truth = 0,
                                              .probability = 0.25,
                                              .votes = {2, 1},
                                              .probabilities = {0.5, 0.75},
                                              .elected = {2}});
  const Settings details = train::evaluation_details(evaluation, "majority", {0, 3}, {"a", "b", "c"});
  CHECK(*details.find("confusion") ==
        Value(Value::Array{Value::Array{0, 0, 1}, Value::Array{0, 2, 1}, Value::Array{2, 2, 1}}));
  CHECK(*details.find("members") == Value(Value::Array{0, 3}));
  CHECK(*details.find("class_names") == Value(Value::Array{"a", "b", "c"}));
  CHECK(*details.find("disagreement_of_pairs") ==
        Value(Value::Array{Value::Array{0.0, 1.0 / 3}, Value::Array{1.0 / 3, 0.0}}));
  CHECK(*details.find("class_scores")->table()->find("recall") == Value(Value::Array{0.5, 0.0, 1.0}));
  CHECK(*details.find("class_scores")->table()->find("support") == Value(Value::Array{2, 0, 1}));
  CHECK(*details.find("calibration")->table()->find("ece") == Value(0.5));
  CHECK(std::get<Value::Array>(details.find("mistakes")->data()).size() == 1);

  // The pairs of very many members have only their means, in the summary.
  for (const std::int64_t members : {128, 129}) {
    evaluation.diversity = vote::Diversity(members);
    const Settings many = train::evaluation_details(evaluation, "majority", {0, 3}, {});
    CHECK((many.find("disagreement_of_pairs") != nullptr) == (members == 128));
    CHECK((many.find("q_statistic_of_pairs") != nullptr) == (members == 128));
  }
}

#include "convoke/train/evaluation.hpp"

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

namespace {

/// Probabilities in quarters, so that many are equal, and true classes that correlate with them.
struct Samples {
  std::size_t classes;
  std::vector<double> probabilities;
  std::vector<std::int32_t> truth;

  Samples(std::size_t count, std::size_t classes_, std::uint64_t seed) : classes(classes_) {
    for (std::uint32_t i = 0; i < count; ++i) {
      RandomStream random({seed, Purpose::kBench, 0, i});
      truth.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(classes))));
      for (std::size_t c = 0; c < classes; ++c) {
        const bool is = static_cast<std::int32_t>(c) == truth.back();
        probabilities.push_back(static_cast<double>(random.below(4) + (is ? 1 : 0)) / 4);
      }
    }
  }
  double at(std::size_t i, std::size_t c) const { return probabilities[i * classes + c]; }
};

// Counts, over all pairs of a sample of the class and a sample of another, those in order; a tie counts half.
double area_by_pairs(const Samples& samples, std::size_t c) {
  double ordered = 0, pairs = 0;
  for (std::size_t i = 0; i < samples.truth.size(); ++i) {
    if (samples.truth[i] != static_cast<std::int32_t>(c)) continue;
    for (std::size_t j = 0; j < samples.truth.size(); ++j) {
      if (samples.truth[j] == static_cast<std::int32_t>(c)) continue;
      ++pairs;
      ordered += samples.at(i, c) > samples.at(j, c) ? 1 : samples.at(i, c) == samples.at(j, c) ? 0.5 : 0;
    }
  }
  return ordered / pairs;
}

// Sorts each row; among equal values the lower label is first.
double top_k_by_sorting(const Samples& samples, std::size_t k) {
  double hits = 0;
  for (std::size_t i = 0; i < samples.truth.size(); ++i) {
    std::vector<std::size_t> order(samples.classes);
    for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return samples.at(i, a) > samples.at(i, b); });
    for (std::size_t place = 0; place < k; ++place) {
      hits += samples.truth[i] == static_cast<std::int32_t>(order[place]);
    }
  }
  return hits / static_cast<double>(samples.truth.size());
}

// Returns the result of all ranks. Neighboring samples are on one rank: later ranks get more samples, or the
// last rank gets all.
train::Ranking rank_of(const Samples& samples, std::int64_t k, const mpi::Communicator& world,
                       bool all_to_last = false) {
  const auto n = samples.truth.size();
  const auto cut = [&](int part) {
    const auto r = static_cast<std::size_t>(part);
    const auto size = static_cast<std::size_t>(world.size());
    if (all_to_last) return r < size ? 0 : n;
    return n * r * r / (size * size);
  };
  const std::size_t begin = cut(world.rank());
  const std::size_t count = cut(world.rank() + 1) - begin;
  return train::rank(
      std::span(samples.probabilities).subspan(begin * samples.classes, count * samples.classes),
      std::span(samples.truth).subspan(begin, count), static_cast<std::int64_t>(samples.classes), k, world);
}

}  // namespace

TEST_CASE("top-k and ROC AUC equal a slow count of pairs, however the ranks share the samples") {
  const mpi::Communicator self = world().split(world().rank(), 0);
  for (const std::size_t classes : {2U, 3U, 7U}) {
    const Samples samples(101, classes, classes);
    double area = 0;
    for (std::size_t c = 0; c < classes; ++c)
      area += area_by_pairs(samples, c) / static_cast<double>(classes);
    if (classes == 2) area = area_by_pairs(samples, 1);
    CAPTURE(classes, area);
    CHECK((area > 0.55 && area < 0.95));
    const train::Ranking one = rank_of(samples, 2, self);
    CHECK(one.roc_curves.size() == (classes == 2 ? 1 : classes));
    for (const std::vector<double>& curve : one.roc_curves) {
      CHECK(std::is_sorted(curve.begin(), curve.end()));
      CHECK(curve.back() == 1);
    }
    CHECK(one.roc_auc == Approx(area).epsilon(1e-12));
    for (const bool all_to_last : {false, true}) {
      const train::Ranking found = rank_of(samples, 2, world(), all_to_last);
      CHECK(found.k == 2);
      CHECK(found.roc_curves == one.roc_curves);
      CHECK(found.roc_auc == one.roc_auc);  // bit-identical, because whole numbers are counted
      if (classes == 2) {
        CHECK(std::isnan(found.top_k_accuracy));  // the top 2 of 2 classes is always right
      } else {
        CHECK(found.top_k_accuracy == top_k_by_sorting(samples, 2));
      }
    }
  }
}

TEST_CASE("undefined measures are NaN on all ranks: k = 0, or a class without samples") {
  Samples samples(40, 3, 1);
  CHECK(std::isnan(rank_of(samples, 0, world()).top_k_accuracy));
  CHECK_FALSE(std::isnan(rank_of(samples, 0, world()).roc_auc));
  for (std::int32_t& label : samples.truth) label %= 2;
  const train::Ranking found = rank_of(samples, 1, world());
  CHECK(std::isnan(found.roc_auc));
  CHECK(std::isnan(found.roc_curves.at(2).front()));  // the class without samples
  CHECK(found.roc_curves.at(1).back() == 1);
  CHECK(found.top_k_accuracy == top_k_by_sorting(samples, 1));
}

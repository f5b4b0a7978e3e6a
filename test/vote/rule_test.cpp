#include "convoke/vote/rule.hpp"

#include "convoke/core/random.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::vote;

namespace {

// Votes on one sample: a row of class probabilities per member.
std::int32_t elect(const std::string& rule, const std::vector<std::vector<float>>& rows) {
  VoteCounts counts(1, static_cast<std::int64_t>(rows[0].size()));
  for (const auto& row : rows) counts.add(row);
  return find_rule(rule)(counts, 0);
}

// Probabilities in eighths, so that there are many ties and every sum is exact.
struct RandomPredictions {
  RandomPredictions(std::int64_t members_, std::int64_t samples_, std::int64_t classes_, std::uint64_t seed)
      : members(members_), samples(samples_), classes(classes_) {
    RandomStream random({.seed = seed, .purpose = Purpose::kBench});
    for (std::int64_t i = 0; i < members * samples; ++i) {
      std::vector<float> row(static_cast<std::size_t>(classes));
      for (int eighth = 0; eighth < 8; ++eighth) row[random.below(row.size())] += 0.125F;
      probabilities.insert(probabilities.end(), row.begin(), row.end());
    }
  }
  float at(std::int64_t member, std::int64_t sample, std::int64_t c) const {
    return probabilities[static_cast<std::size_t>((member * samples + sample) * classes + c)];
  }
  std::span<const float> of(std::int64_t member) const {
    const auto values = static_cast<std::size_t>(samples * classes);
    return std::span(probabilities).subspan(static_cast<std::size_t>(member) * values, values);
  }
  std::int64_t members, samples, classes;
  std::vector<float> probabilities;
};

// A slow version of the rule: removes candidates criterion by criterion.
std::int32_t slow_majority(const RandomPredictions& b, std::int64_t members, std::int64_t sample) {
  std::map<std::int64_t, int> votes;
  for (std::int64_t m = 0; m < members; ++m) {
    std::int64_t choice = b.classes - 1;
    for (std::int64_t c = b.classes - 1; c >= 0; --c) {
      if (b.at(m, sample, c) >= b.at(m, sample, choice)) choice = c;
    }
    ++votes[choice];
  }
  int most = 0;
  for (const auto& [label, count] : votes) most = std::max(most, count);
  std::int32_t elected = -1;
  double highest = -1;
  for (const auto& [label, count] : votes) {
    if (count < most) continue;
    double sum = 0;
    for (std::int64_t m = 0; m < members; ++m) sum += b.at(m, sample, label);
    if (sum > highest) {
      highest = sum;
      elected = static_cast<std::int32_t>(label);
    }
  }
  return elected;
}

std::int32_t slow_majority_lowest(const RandomPredictions& b, std::int64_t members, std::int64_t sample) {
  const std::vector<std::int32_t> labels = labels_in(b.probabilities, b.classes);
  std::map<std::int32_t, std::int64_t> votes;
  for (std::int64_t m = 0; m < members; ++m) {
    ++votes[labels[static_cast<std::size_t>(m * b.samples + sample)]];
  }
  std::int64_t most = 0;
  std::int32_t elected = -1;
  for (const auto& [label, count] : votes) {
    if (count > most) {
      most = count;
      elected = label;
    }
  }
  return elected;
}

std::int32_t slow_mean(const RandomPredictions& b, std::int64_t members, std::int64_t sample) {
  std::int32_t elected = -1;
  double highest = -1;
  for (std::int64_t c = 0; c < b.classes; ++c) {
    double mean = 0;
    for (std::int64_t m = 0; m < members; ++m) mean += b.at(m, sample, c);
    mean = std::round(mean * 8) / 8 / static_cast<double>(members);
    if (mean > highest) {
      highest = mean;
      elected = static_cast<std::int32_t>(c);
    }
  }
  return elected;
}

}  // namespace

TEST_CASE("majority: most votes win; the highest summed probability and then the lowest label break ties") {
  CHECK(elect("majority", {{0.4F, 0.6F}, {0.45F, 0.55F}, {1.0F, 0.0F}}) == 1);
  CHECK(elect("mean", {{0.4F, 0.6F}, {0.45F, 0.55F}, {1.0F, 0.0F}}) == 0);
  CHECK(elect("majority", {{0.5F, 0.25F, 0.25F}, {0.125F, 0.25F, 0.625F}}) == 2);
  CHECK(elect("majority", {{0.625F, 0.25F, 0.125F}, {0.25F, 0.25F, 0.5F}}) == 0);
  // Class 1 has the highest sum (1.25 of 4) but no vote; classes 0 and 2 have two votes each, and 2 has the
  // higher sum.
  CHECK(
      elect("majority",
            {{0.5F, 0.375F, 0.125F}, {0.5F, 0.375F, 0.125F}, {0.0F, 0.25F, 0.75F}, {0.0F, 0.375F, 0.625F}}) ==
      2);
  CHECK(elect("majority", {{0.25F, 0.5F, 0.25F}, {0.25F, 0.25F, 0.5F}}) == 1);
  CHECK(elect("majority", {{0.25F, 0.25F, 0.5F}, {0.25F, 0.5F, 0.25F}}) == 1);
  CHECK(elect("majority", {{0.2F, 0.4F, 0.4F}}) == 1);
  // Votes: 1 (tie of 1 and 2), 2, 1.
  CHECK(elect("majority", {{0.0F, 0.5F, 0.5F}, {0.0F, 0.0F, 1.0F}, {0.0F, 0.75F, 0.25F}}) == 1);
}

TEST_CASE("majority_lowest and mean: the lowest label breaks a tie") {
  const std::vector<std::vector<float>> tied{{0.5F, 0.25F, 0.25F}, {0.125F, 0.25F, 0.625F}};
  CHECK(elect("majority_lowest", tied) == 0);
  CHECK(elect("majority", tied) == 2);
  CHECK(elect("majority_lowest", {{0.0F, 0.25F, 0.75F}, {0.25F, 0.5F, 0.25F}, {0.0F, 0.0F, 1.0F}}) == 2);
  CHECK(elect("mean", {{0.25F, 0.5F, 0.25F}, {0.25F, 0.25F, 0.5F}}) == 1);
  CHECK(elect("mean", {{0.5F, 0.0F, 0.5F}}) == 0);
}

TEST_CASE("votes equal a slow reference, for every prefix of members") {
  for (const auto& [members, samples, classes] : std::vector<std::array<std::int64_t, 3>>{
           {7, 300, 4}, {4, 100, 2}, {12, 61, 10}, {3, 5, 1}, {2, 0, 3}}) {
    const RandomPredictions predictions(members, samples, classes, static_cast<std::uint64_t>(members));
    VoteCounts counts(samples, classes);
    for (std::int64_t prefix = 1; prefix <= members; ++prefix) {
      counts.add(predictions.of(prefix - 1));
      CHECK(counts.members() == prefix);
      std::vector<std::int32_t> slow_majorities;
      std::vector<std::int32_t> slow_lowest;
      std::vector<std::int32_t> slow_means;
      for (std::int64_t s = 0; s < samples; ++s) {
        slow_majorities.push_back(slow_majority(predictions, prefix, s));
        slow_lowest.push_back(slow_majority_lowest(predictions, prefix, s));
        slow_means.push_back(slow_mean(predictions, prefix, s));
      }
      CHECK(elect(find_rule("majority"), counts) == slow_majorities);
      CHECK(elect(find_rule("majority_lowest"), counts) == slow_lowest);
      CHECK(elect(find_rule("mean"), counts) == slow_means);
    }
  }
}

TEST_CASE("an unknown voting rule is refused") {
  CHECK(rule_names() == std::vector<std::string>{"majority", "majority_lowest", "mean"});
  CHECK(
      refusal_of([] { find_rule("majorty"); }) ==
      "unknown voting rule \"majorty\" (did you mean \"majority\"?) | known: majority, majority_lowest, mean");
}

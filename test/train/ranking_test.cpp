#include "convoke/train/ranking.hpp"

#include "convoke/core/random.hpp"
#include "support/catch.hpp"
#include "support/world.hpp"

using namespace convoke;

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

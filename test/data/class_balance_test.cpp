#include "convoke/data/epoch_plan.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::data;

namespace {

using Ids = std::vector<std::uint32_t>;
using Labels = std::vector<std::int32_t>;

// 100 of class 0, 17 of class 2, 3 of class 3; none of class 1.
Labels uneven() {
  Labels labels(120, 0);
  std::fill_n(labels.begin() + 40, 17, 2);
  std::fill_n(labels.begin() + 70, 3, 3);
  return labels;
}

Ids all(std::size_t count) {
  Ids ids(count);
  std::iota(ids.begin(), ids.end(), 0U);
  return ids;
}

std::map<std::int32_t, int> counts(const Ids& ids, const Labels& labels) {
  std::map<std::int32_t, int> found;
  for (const std::uint32_t id : ids) ++found[labels[id]];
  return found;
}

}  // namespace

// Expected values: sklearn.utils.class_weight.compute_class_weight("balanced", classes=[0, 1, 2], y=[0, 0, 0,
// 0, 1, 1, 2]), scikit-learn 1.9.1.
TEST_CASE("balanced class weights are scikit-learn's") {
  const std::vector<double> weights = balanced_class_weights(Labels{0, 0, 0, 0, 1, 1, 2}, 3);
  REQUIRE(weights.size() == 3);
  CHECK(weights[0] == Approx(0.58333333333333337).epsilon(1e-15));
  CHECK(weights[1] == Approx(1.1666666666666667).epsilon(1e-15));
  CHECK(weights[2] == Approx(2.3333333333333335).epsilon(1e-15));
  CHECK_THAT(error_of([] {
               balanced_class_weights(Labels{0, 0, 2}, 3);
             }),
             Contains("class 1 has no training sample"));
}

TEST_CASE("every balanced epoch has equally many samples of each class") {
  const Labels labels = uneven();
  for (const std::size_t take : {120, 119, 118}) {
    const Ids ids = all(take);
    std::map<std::int32_t, int> sum;
    for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
      const Ids chosen = balanced_epoch(ids, labels, 5, epoch);
      CHECK(chosen.size() == take);
      for (const auto& [label, count] : counts(chosen, labels)) {
        CHECK(std::abs(count - static_cast<int>(take) / 3) <= 1);
        sum[label] += count;
      }
    }
    CHECK(sum == std::map<std::int32_t, int>{
                     {0, static_cast<int>(take)}, {2, static_cast<int>(take)}, {3, static_cast<int>(take)}});
  }
}

TEST_CASE("balanced epochs use every sample of a large class, and samples of a small class equally often") {
  const Labels labels = uneven();
  std::map<std::uint32_t, int> seen;
  for (std::uint32_t epoch = 0; epoch < 5; ++epoch)  // 200 places of class 0
    for (const std::uint32_t id : balanced_epoch(all(120), labels, 5, epoch)) ++seen[id];
  for (std::uint32_t id = 0; id < 120; ++id) {
    INFO(id);
    if (labels[id] == 0) CHECK(seen[id] == 2);
    if (labels[id] == 2) CHECK((seen[id] == 11 || seen[id] == 12));
    if (labels[id] == 3) CHECK((seen[id] == 66 || seen[id] == 67));
  }
}

TEST_CASE("balanced epochs are a function of seed and epoch") {
  const Labels labels = uneven();
  const auto order = [&](std::uint64_t seed, std::uint32_t epoch) {
    const EpochPlan plan = EpochPlan::balanced(all(120), labels, seed, epoch, 32);
    Ids ids;
    for (std::int64_t step = 0; step < plan.steps(); ++step)
      ids.insert(ids.end(), plan.step(step).begin(), plan.step(step).end());
    return ids;
  };
  CHECK(order(1, 2) == order(1, 2));
  CHECK(order(1, 2) != order(1, 3));
  CHECK(order(1, 2) != order(2, 2));
}

TEST_CASE("an epoch counts earlier uses of a sample") {
  const Labels labels = uneven();
  const EpochPlan plan = EpochPlan::balanced(all(120), labels, 1, 0, 32);
  std::map<std::uint32_t, std::uint32_t> seen;
  for (std::int64_t step = 0; step < plan.steps(); ++step) {
    REQUIRE(plan.repeats(step).size() == plan.step(step).size());
    for (std::size_t i = 0; i < plan.step(step).size(); ++i)
      CHECK(plan.repeats(step)[i] == seen[plan.step(step)[i]]++);
  }
  CHECK(EpochPlan(all(120), 1, 0, 32).repeats(0).empty());  // each sample once
}

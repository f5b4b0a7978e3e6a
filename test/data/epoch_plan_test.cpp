#include "convoke/data/epoch_plan.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::data;
using Ids = std::vector<std::uint32_t>;

namespace {

Ids range(std::uint32_t n) {
  Ids ids(n);
  std::iota(ids.begin(), ids.end(), 0U);
  return ids;
}

Ids sorted(Ids ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

Ids order_of(const EpochPlan& plan) {
  Ids ids;
  for (std::int64_t s = 0; s < plan.steps(); ++s)
    ids.insert(ids.end(), plan.step(s).begin(), plan.step(s).end());
  return ids;
}

/// Uneven classes, mixed: 40 of class 0, 7 of class 1, 3 of class 2.
std::vector<std::int32_t> uneven_labels() {
  std::vector<std::int32_t> labels(50, 0);
  for (const std::size_t i : {0, 9, 13, 21, 30, 31, 49}) labels[i] = 1;
  for (const std::size_t i : {5, 6, 40}) labels[i] = 2;
  return labels;
}

}  // namespace

TEST_CASE("an epoch is a permutation, cut into steps") {
  const Ids ids = range(103);
  const EpochPlan plan(ids, 7, 0, 10);
  REQUIRE(plan.steps() == 11);
  for (std::int64_t s = 0; s < 10; ++s) CHECK(plan.step(s).size() == 10);
  CHECK(plan.step(10).size() == 3);
  const Ids order = order_of(plan);
  CHECK(sorted(order) == ids);
  CHECK(order != ids);
  CHECK(order_of(EpochPlan(ids, 7, 0, 10, false)) == ids);
  CHECK(EpochPlan(range(100), 7, 0, 10).steps() == 10);
  CHECK(EpochPlan(range(3), 7, 0, 10).step(0).size() == 3);
}

TEST_CASE("the order depends only on ids, seed and epoch") {
  const Ids ids = range(1000);
  const Ids order = order_of(EpochPlan(ids, 7, 3, 10));
  CHECK(order == order_of(EpochPlan(ids, 7, 3, 10)));
  CHECK(order == order_of(EpochPlan(ids, 7, 3, 64)));  // the batch size only cuts it
  CHECK(order != order_of(EpochPlan(ids, 7, 4, 10)));
  CHECK(order != order_of(EpochPlan(ids, 8, 3, 10)));
}

TEST_CASE("samples of a step are bucketed by length; every part of the step has short and long ones") {
  const Ids ids = range(1000);
  std::vector<std::int32_t> lengths;
  for (const std::uint32_t id : ids) lengths.push_back(static_cast<std::int32_t>(id * 37 % 301));
  const EpochPlan plain(ids, 7, 3, 256);
  EpochPlan plan = plain;
  plan.bucket_by_length(lengths, 8);
  CHECK(order_of(plan) != order_of(plain));
  for (std::int64_t s = 0; s < plan.steps(); ++s) {
    const std::span<const std::uint32_t> step = plan.step(s);
    CHECK(sorted({step.begin(), step.end()}) == sorted({plain.step(s).begin(), plain.step(s).end()}));
    for (std::size_t first = 0; first + 8 <= step.size(); first += 8)
      CHECK(lengths[step[first + 7]] - lengths[step[first]] < 30);
    if (s == 3) continue;  // the rest
    for (std::size_t quarter = 0; quarter < 4; ++quarter) {
      double sum = 0;
      for (std::size_t i = 0; i < 64; ++i) sum += lengths[step[64 * quarter + i]];
      CHECK(std::abs(sum / 64 - 150) < 35);
    }
  }

  const Ids twice{0, 1, 2, 0, 1, 2};
  EpochPlan repeated(twice, 7, 0, 6);
  repeated.bucket_by_length(lengths, 2);
  CHECK(order_of(repeated) == Ids{0, 0, 2, 2, 1, 1});
  CHECK(std::ranges::equal(repeated.repeats(0), Ids{0, 1, 0, 1, 0, 1}));
}

TEST_CASE("every sample is equally likely in every place") {
  // For the 3! orders of three samples over 6000 epochs, chi-square with 5 degrees of freedom stays below its
  // 99.99 % point.
  std::map<Ids, int> seen;
  for (std::uint32_t epoch = 0; epoch < 6000; ++epoch) ++seen[order_of(EpochPlan(range(3), 1, epoch, 3))];
  REQUIRE(seen.size() == 6);
  double chi_square = 0;
  for (const auto& [order, count] : seen) chi_square += std::pow(count - 1000.0, 2) / 1000.0;
  CHECK(chi_square < 25.7);
}

TEST_CASE("contiguous shards follow each other, and the last gets the rest") {
  const std::vector<std::int32_t> labels(11, 0);
  CHECK(shard(labels, Sharding::kContiguous, 0, 3, 1).train == Ids{0, 1, 2});
  CHECK(shard(labels, Sharding::kContiguous, 1, 3, 1).train == Ids{3, 4, 5});
  CHECK(shard(labels, Sharding::kContiguous, 2, 3, 1).train == Ids{6, 7, 8, 9, 10});
  CHECK(shard(labels, Sharding::kFull, 2, 3, 1).train == range(11));
  CHECK(shard(labels, Sharding::kFull, 19, 20, 1).train == range(11));
}

TEST_CASE("shards are disjoint and complete; stratified shards are even in every class") {
  const std::vector<std::int32_t> labels = uneven_labels();
  for (const Sharding sharding : {Sharding::kContiguous, Sharding::kStratified}) {
    for (const std::int64_t members : {1, 2, 3, 7, 50}) {
      Ids all;
      std::vector<std::map<std::int32_t, std::int64_t>> counts;
      std::vector<std::size_t> sizes;
      for (std::int64_t m = 0; m < members; ++m) {
        const Ids ids = shard(labels, sharding, m, members, 1).train;
        CHECK(std::is_sorted(ids.begin(), ids.end()));
        all.insert(all.end(), ids.begin(), ids.end());
        sizes.push_back(ids.size());
        counts.push_back({{0, 0}, {1, 0}, {2, 0}});
        for (const std::uint32_t id : ids) ++counts.back()[labels[id]];
      }
      CHECK(sorted(all) == range(50));
      if (sharding != Sharding::kStratified) continue;
      const auto [fewest, most] = std::minmax_element(sizes.begin(), sizes.end());
      CHECK(*most - *fewest <= 1);
      for (const std::int32_t label : {0, 1, 2}) {
        const auto less = [&](auto& a, auto& b) { return a.at(label) < b.at(label); };
        const auto [low, high] = std::minmax_element(counts.begin(), counts.end(), less);
        CHECK(high->at(label) - low->at(label) <= 1);
      }
    }
  }
}

TEST_CASE("bootstrap shards draw with replacement, keyed by seed and member") {
  const std::vector<std::int32_t> labels(10000, 0);
  const Ids ids = shard(labels, Sharding::kBootstrap, 0, 1, 5).train;
  REQUIRE(ids.size() == 10000);
  Ids distinct = sorted(ids);
  CHECK(distinct.back() < 10000);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  // n draws of n leave (1 - 1/n)^n = 1/e undrawn: 6321 distinct, with a standard deviation of 31.
  CHECK(std::abs(static_cast<double>(distinct.size()) - 6321) < 5 * 31);
  CHECK(ids == shard(labels, Sharding::kBootstrap, 0, 1, 5).train);
  CHECK(ids != shard(labels, Sharding::kBootstrap, 0, 1, 6).train);
  CHECK(shard(labels, Sharding::kBootstrap, 0, 2, 5).train.size() == 5000);
  CHECK(shard(labels, Sharding::kBootstrap, 0, 2, 5).train !=
        shard(labels, Sharding::kBootstrap, 1, 2, 5).train);
}

TEST_CASE("impossible shards are refused") {
  const std::vector<std::int32_t> labels(3, 0);
  for (const auto& sharding : kShardings) {
    if (sharding.value == Sharding::kFull) continue;
    CHECK_THAT(error_of([&] { shard(labels, sharding.value, 0, 4, 1); }),
               Contains("3 samples cannot be shared among 4 members"));
  }
  CHECK_THAT(error_of([&] { shard({}, Sharding::kFull, 0, 1, 1); }), Contains("0 samples"));
}

TEST_CASE("a bootstrap holds out the same samples for all members, and draws from the others") {
  const std::vector<std::int32_t> labels(10000, 0);
  constexpr std::int64_t kMembers = 4;
  const Ids held = shard(labels, Sharding::kBootstrap, 0, kMembers, 5, 0.2).validation;
  CHECK(held.size() == 500);  // a fifth of a member's share
  CHECK(std::set(held.begin(), held.end()).size() == held.size());
  // At random: among the first half of the samples are 250 +- 4 * sqrt(500 / 4) of them.
  const auto low = std::count_if(held.begin(), held.end(), [](std::uint32_t id) { return id < 5000; });
  CHECK(std::abs(static_cast<double>(low) - 250) < 45);
  std::vector<int> drawn(10000);
  for (std::int64_t member = 0; member < kMembers; ++member) {
    const Holdout parts = shard(labels, Sharding::kBootstrap, member, kMembers, 5, 0.2);
    CHECK(parts.validation == held);
    CHECK(parts.train.size() == 2000);
    for (const std::uint32_t id : parts.train) ++drawn[id];
  }
  std::int64_t overlap = 0;
  for (const std::uint32_t id : held) overlap += drawn[id];
  CHECK(overlap == 0);
  // 8000 draws of the other 9500 leave (1 - 1 / 9500)^8000 of them undrawn: 4092, standard deviation 39.
  CHECK(std::abs(static_cast<double>(std::count(drawn.begin(), drawn.end(), 0) - 500) - 4092) < 5 * 39);
  CHECK(shard(labels, Sharding::kBootstrap, 0, kMembers, 6, 0.2).validation != held);
}

TEST_CASE("validation is held out as Keras does") {
  // Keras: split_at = int(math.floor(n * (1.0 - validation_split))), the first split_at train.
  const auto held_out_of = [](std::size_t n, double fraction) {
    return shard(std::vector<std::int32_t>(n), Sharding::kFull, 0, 1, 1, fraction);
  };
  const auto sizes = [&](std::uint32_t n, double fraction) {
    const Holdout parts = held_out_of(n, fraction);
    CHECK(parts.train == range(static_cast<std::uint32_t>(parts.train.size())));
    Ids all = parts.train;
    all.insert(all.end(), parts.validation.begin(), parts.validation.end());
    CHECK(all == range(n));
    return std::pair(parts.train.size(), parts.validation.size());
  };
  CHECK(sizes(60000, 0.2) == std::pair<std::size_t, std::size_t>(48000, 12000));
  CHECK(sizes(10, 0.25) == std::pair<std::size_t, std::size_t>(7, 3));
  CHECK(sizes(100, 0.29) == std::pair<std::size_t, std::size_t>(71, 29));
  CHECK(sizes(10, 0.3) == std::pair<std::size_t, std::size_t>(7, 3));
  CHECK(sizes(10, 0.0) == std::pair<std::size_t, std::size_t>(10, 0));
  CHECK_THAT(error_of([&] { held_out_of(2, 0.6); }), Contains("leaves none of 2 samples to train"));
  CHECK_THAT(error_of([&] { held_out_of(2, 1.0); }), Contains("below 1, not 1"));
  CHECK_THAT(error_of([&] { held_out_of(2, -0.1); }), Contains("at least 0"));
  CHECK_THAT(error_of([&] { held_out_of(2, NAN); }), Contains("not nan"));
}

TEST_CASE("fractions are nested, keep the order of the ids, and depend only on the seed and the count") {
  Ids ids = range(1000);
  std::reverse(ids.begin(), ids.end());
  CHECK(fraction_of(ids, 1, 7) == ids);
  Ids larger = ids;
  for (const double fraction : {0.75, 0.5, 0.25, 0.125}) {
    const Ids kept = fraction_of(ids, fraction, 7);
    CAPTURE(fraction);
    CHECK(kept.size() == static_cast<std::size_t>(1000 * fraction));
    CHECK(std::is_sorted(kept.rbegin(), kept.rend()));  // in the order of the ids
    CHECK(std::includes(larger.rbegin(), larger.rend(), kept.rbegin(), kept.rend()));
    larger = kept;
  }
  CHECK(fraction_of(ids, 0.5, 7) == fraction_of(ids, 0.5, 7));
  CHECK(fraction_of(ids, 0.5, 7) != fraction_of(ids, 0.5, 8));
  // The draw does not depend on the place: each tenth keeps about half, 50 +- 4 * sqrt(100 / 4).
  const Ids half = fraction_of(range(1000), 0.5, 1);
  for (std::uint32_t tenth = 0; tenth < 10; ++tenth) {
    const auto among =
        std::count_if(half.begin(), half.end(), [&](std::uint32_t id) { return id / 100 == tenth; });
    CHECK(std::abs(static_cast<double>(among) - 50) < 20);
  }
  CHECK(fraction_of(range(3), 0.4, 1).size() == 1);
  CHECK(fraction_of(range(100), 0.29, 1).size() == 29);  // 0.29 * 100 < 29 in binary
  CHECK_THAT(error_of([] { fraction_of(range(3), 0.3, 1); }),
             Contains("a fraction of 0.3 leaves none of 3 samples"));
}

TEST_CASE("chunks are shuffled, and samples are shuffled within windows of chunks") {
  const Shuffle shuffle =
      Shuffle::chunks(100, 3000, 700);  // bytes: 7 samples to a chunk, 4 chunks to a window
  CHECK(shuffle.chunk == 7);
  CHECK(shuffle.window == 28);
  CHECK(Shuffle::chunks(1 << 21, 1 << 20).chunk == 1);  // samples larger than a chunk or a window
  CHECK(Shuffle::chunks(1 << 21, 1 << 20).window == 1);

  const Ids ids = range(200);
  const auto order_of = [&](std::uint64_t seed, std::uint32_t epoch) {
    const EpochPlan plan(ids, seed, epoch, 16, shuffle);
    CHECK(plan.window() == 28);
    return Ids(plan.order().begin(), plan.order().end());
  };
  const Ids order = order_of(1, 0);
  CHECK(order == order_of(1, 0));
  CHECK(order != order_of(2, 0));
  CHECK(order != order_of(1, 1));
  CHECK(sorted(order) == ids);
  // Every window holds whole chunks of neighbors. The exception is the last chunk of the file: it is smaller
  // and may be anywhere, and then later windows begin within a chunk.
  std::size_t whole = 0, unlike_the_file = 0;
  for (std::size_t first = 0; first < order.size(); first += 28) {
    const std::size_t count = std::min<std::size_t>(28, order.size() - first);
    std::map<std::uint32_t, std::size_t> of_chunk;
    for (std::size_t i = first; i < first + count; ++i) {
      ++of_chunk[order[i] / 7];
      if (i > first && order[i] != order[i - 1] + 1) ++unlike_the_file;
    }
    CHECK(of_chunk.size() <= 6);
    for (const auto& entry : of_chunk) whole += entry.second == 7 ? 1 : 0;
  }
  CHECK(whole >= 20);  // of 28 whole chunks
  CHECK(unlike_the_file > 150);
  CHECK(order[0] / 7 != 0);  // by chance, with this seed, the chunks do not follow each other

  // A window of all samples is a shuffle of all samples. Ids drawn with replacement, some of them twice, are
  // put in the order of the file first.
  const EpochPlan all(ids, 1, 0, 16, Shuffle::chunks(100, 1 << 20, 700));
  CHECK(sorted(Ids(all.order().begin(), all.order().end())) == ids);
  const Ids drawn{150, 3, 3, 199, 8, 42, 42, 42, 0, 77};
  const EpochPlan few(drawn, 1, 0, 4, Shuffle::chunks(100, 400, 200));
  CHECK(sorted(Ids(few.order().begin(), few.order().end())) == sorted(drawn));
  for (std::size_t first = 0; first + 4 <= drawn.size(); first += 4) {  // two chunks of two neighbors
    const Ids window = sorted(Ids(few.order().begin() + static_cast<std::ptrdiff_t>(first),
                                  few.order().begin() + static_cast<std::ptrdiff_t>(first + 4)));
    const Ids in_file = sorted(drawn);
    std::size_t pairs = 0;
    for (std::size_t i = 0; i + 1 < in_file.size(); i += 2) {
      pairs += std::includes(window.begin(), window.end(), in_file.begin() + static_cast<std::ptrdiff_t>(i),
                             in_file.begin() + static_cast<std::ptrdiff_t>(i + 2))
                   ? 1
                   : 0;
    }
    CHECK(pairs == 2);
  }
}

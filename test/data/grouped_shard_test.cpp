// shard() for samples in groups.
#include "convoke/core/random.hpp"
#include "convoke/data/deal_groups.hpp"
#include "convoke/data/epoch_plan.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::data;
using convoke::Purpose;
using Numbers = std::vector<std::int32_t>;

namespace {

/// 3,000 samples of 4 classes in about 500 groups of 1 to 20 that lie anywhere, as the photographs of
/// patients.
struct Patients {
  Patients() {
    convoke::RandomStream random({17, Purpose::kExplore, 0, 0});
    for (std::int32_t patient = 0; labels.size() < 3000; ++patient) {
      const std::uint64_t photographs = random.below(10) == 0 ? 20 : 1 + random.below(8);
      const auto ill = static_cast<std::int32_t>(random.below(4));
      for (std::uint64_t i = 0; i < photographs && labels.size() < 3000; ++i) {
        groups.push_back(patient);
        labels.push_back(random.below(5) == 0 ? static_cast<std::int32_t>(random.below(4)) : ill);
      }
    }
    std::vector<std::uint32_t> order(labels.size());
    std::iota(order.begin(), order.end(), 0U);
    convoke::shuffle(order, {17, Purpose::kExplore, 1, 0});
    const Numbers in_order = groups, of_order = labels;
    for (std::size_t i = 0; i < order.size(); ++i) {
      groups[i] = in_order[order[i]];
      labels[i] = of_order[order[i]];
    }
  }
  Numbers groups, labels;
};

std::set<std::int32_t> groups_of(const std::vector<std::uint32_t>& ids, const Numbers& groups) {
  std::set<std::int32_t> found;
  for (const std::uint32_t id : ids) found.insert(groups[id]);
  return found;
}

bool share_a_group(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b,
                   const Numbers& groups) {
  const std::set<std::int32_t> one = groups_of(a, groups), other = groups_of(b, groups);
  return std::ranges::any_of(one, [&](std::int32_t group) { return other.count(group) > 0; });
}

}  // namespace

TEST_CASE(
    "what is held out shares no group with what trains, and has about the size and the classes asked for") {
  const Patients all;
  for (const double fraction : {0.1, 0.2, 0.5}) {
    const Holdout parts = shard(all.labels, Sharding::kFull, 3, 8, 5, fraction, all.groups);
    CAPTURE(fraction);
    CHECK_FALSE(share_a_group(parts.train, parts.validation, all.groups));
    CHECK(parts.train.size() + parts.validation.size() == 3000);
    CHECK(std::is_sorted(parts.train.begin(), parts.train.end()));
    CHECK(std::is_sorted(parts.validation.begin(), parts.validation.end()));
    CHECK(static_cast<double>(parts.validation.size()) == Approx(3000 * fraction).margin(10));
    for (std::int32_t label = 0; label < 4; ++label) {
      const auto is = [&](std::uint32_t id) { return all.labels[id] == label; };
      const auto n = std::ranges::count(all.labels, label),
                 held = std::ranges::count_if(parts.validation, is);
      CHECK(static_cast<double>(held) == Approx(static_cast<double>(n) * fraction).margin(10));
    }
    // The same for all members; another seed holds out others.
    CHECK(shard(all.labels, Sharding::kFull, 0, 8, 5, fraction, all.groups).validation == parts.validation);
    CHECK(shard(all.labels, Sharding::kFull, 0, 8, 6, fraction, all.groups).validation != parts.validation);
  }
}

TEST_CASE("members share no group, and each holds whole groups out") {
  const Patients all;
  const Sharding sharding = GENERATE(Sharding::kContiguous, Sharding::kStratified);
  constexpr std::int64_t kMembers = 7;
  std::vector<std::vector<std::uint32_t>> shards;
  std::size_t count = 0;
  for (std::int64_t member = 0; member < kMembers; ++member) {
    const Holdout parts = shard(all.labels, sharding, member, kMembers, 5, 0.2, all.groups);
    CHECK_FALSE(share_a_group(parts.train, parts.validation, all.groups));
    CHECK(static_cast<double>(parts.validation.size()) == Approx(3000 * 0.2 / kMembers).margin(10));
    shards.push_back(parts.train);
    shards.back().insert(shards.back().end(), parts.validation.begin(), parts.validation.end());
    CHECK(static_cast<double>(shards.back().size()) == Approx(3000.0 / kMembers).margin(10));
    count += shards.back().size();
  }
  CHECK(count == 3000);
  for (std::size_t a = 0; a < shards.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) CHECK_FALSE(share_a_group(shards[a], shards[b], all.groups));
  }
  if (sharding != Sharding::kStratified) return;
  for (const auto& ids : shards) {
    for (std::int32_t label = 0; label < 4; ++label) {
      const auto is = [&](std::uint32_t id) { return all.labels[id] == label; };
      CHECK(static_cast<double>(std::ranges::count_if(ids, is)) ==
            Approx(static_cast<double>(std::ranges::count(all.labels, label)) / kMembers).margin(10));
    }
  }
}

TEST_CASE("a bootstrap draws whole groups, and none that is held out") {
  const Patients all;
  std::map<std::int32_t, std::size_t> sizes;
  for (const std::int32_t group : all.groups) ++sizes[group];
  const auto held = shard(all.labels, Sharding::kBootstrap, 0, 3, 5, 0.2, all.groups).validation;
  CHECK(static_cast<double>(held.size()) == Approx(200).margin(10));
  std::set<std::vector<std::uint32_t>> different;
  for (std::int64_t member = 0; member < 3; ++member) {
    const Holdout parts = shard(all.labels, Sharding::kBootstrap, member, 3, 5, 0.2, all.groups);
    CHECK(parts.validation == held);
    CHECK_FALSE(share_a_group(parts.train, held, all.groups));
    CHECK(static_cast<double>(parts.train.size()) == Approx(800).margin(10));
    std::map<std::int32_t, std::size_t> drawn;
    for (const std::uint32_t id : parts.train) ++drawn[all.groups[id]];
    for (const auto& [group, count] : drawn) CHECK(count % sizes[group] == 0);
    CHECK(std::ranges::any_of(drawn, [&](const auto& group) { return group.second > sizes[group.first]; }));
    different.insert(parts.train);
  }
  CHECK(different.size() == 3);
}

TEST_CASE("a group that is larger than the part asked for trains, if another can be held out") {
  Numbers groups(100, 0), labels(100, 0);
  for (std::size_t i = 60; i < 100; ++i) groups[i] = 1;
  for (std::size_t i = 0; i < 100; i += 2) labels[i] = 1;
  const Holdout parts = shard(labels, Sharding::kFull, 0, 1, 1, 0.1, groups);
  CHECK(parts.train.size() == 60);
  CHECK(parts.validation.size() == 40);
  CHECK(shard(labels, Sharding::kFull, 0, 1, 1, 0.9, groups).train.size() == 40);
  CHECK(shard(labels, Sharding::kFull, 0, 1, 1, 0, groups).train.size() == 100);

  const Numbers one(100, 4);
  CHECK(shard(labels, Sharding::kFull, 0, 1, 1, 0, one).train.size() == 100);
  CHECK_THAT(error_of([&] { shard(labels, Sharding::kFull, 0, 1, 1, 0.2, one); }),
             Contains("a validation split of 0.2 cannot hold samples out: all 100 are in one group"));
  for (const Sharding sharding : {Sharding::kContiguous, Sharding::kStratified})
    CHECK_THAT(error_of([&] { shard(labels, sharding, 2, 3, 1, 0, groups); }),
               Contains("2 groups of samples cannot be shared among 3 members"));
}

TEST_CASE("groups are dealt such that every part has nearly its due of every class") {
  const Patients all;
  const std::vector<SampleGroup> groups = sample_groups(all.groups);
  std::set<std::size_t> samples;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (g > 0) CHECK(groups[g - 1].front() < groups[g].front());
    for (const std::size_t sample : groups[g]) {
      CHECK(all.groups[sample] == all.groups[groups[g].front()]);
      CHECK(samples.insert(sample).second);
    }
  }
  CHECK(samples.size() == 3000);
  const std::vector<double> fractions{0.5, 0.3, 0.2};
  const std::vector<std::size_t> part =
      deal_groups(groups, all.labels, fractions, {9, Purpose::kSplit, 0, 0});
  // The number of samples by which the classes of the parts miss their dues.
  const auto distance = [&](const std::vector<std::size_t>& dealt) {
    std::vector<std::vector<double>> missing(3, std::vector<double>(4));
    for (const std::int32_t label : all.labels) {
      for (std::size_t p = 0; p < 3; ++p) missing[p][static_cast<std::size_t>(label)] += fractions[p];
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const std::size_t sample : groups[g])
        --missing[dealt[g]][static_cast<std::size_t>(all.labels[sample])];
    }
    double sum = 0;
    for (const auto& row : missing) {
      for (const double n : row) sum += std::abs(n);
    }
    return sum;
  };
  CHECK(distance(part) < 3 * 4);
  std::vector<std::size_t> supplied = part;
  supply_strata(groups, all.labels, fractions, supplied);
  CHECK(supplied == part);  // no part lacks a class

  const auto has_first_class = [&](std::size_t g) {
    return std::ranges::any_of(groups[g], [&](std::size_t sample) { return all.labels[sample] == 0; });
  };
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (has_first_class(g)) supplied[g] = 0;
  }
  const double before = distance(supplied);
  supply_strata(groups, all.labels, fractions, supplied);
  CHECK(distance(supplied) < before);
  std::set<std::size_t> parts;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (has_first_class(g)) parts.insert(supplied[g]);
  }
  CHECK(parts.size() == 3);
}

TEST_CASE("a class of few large groups has its due in a small part, as one of many small groups has") {
  Numbers of_sample, labels;
  const auto add = [&](std::int32_t label, std::int32_t count, std::int32_t size) {
    const std::int32_t first = of_sample.empty() ? 0 : of_sample.back() + 1;
    for (std::int32_t i = 0; i < count * size; ++i) {
      of_sample.push_back(first + i / size);
      labels.push_back(label);
    }
  };
  add(0, 10, 100);
  add(1, 500, 2);
  const std::vector<double> fractions{0.9, 0.1};
  const std::vector<SampleGroup> groups = sample_groups(of_sample);
  const std::vector<std::size_t> part = deal_groups(groups, labels, fractions, {1, Purpose::kSplit, 0, 0});
  std::vector<std::size_t> small(2);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (part[g] == 1) small[static_cast<std::size_t>(labels[groups[g].front()])] += groups[g].size();
  }
  CHECK(small[0] == 100);
  CHECK(small[1] == 100);
}

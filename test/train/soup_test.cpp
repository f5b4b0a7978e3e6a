#include "convoke/train/soup.hpp"

#include "convoke/train/verdict.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/tiny.hpp"
#include "support/training.hpp"
#include "support/world.hpp"

// Averages of members, on 1 to 4 ranks: they do not depend on where the members are.

using namespace convoke;
using namespace convoke::train;

namespace {

// Members whose parameters are arbitrary numbers of very different sizes.
std::vector<TrainedMember> members_with(std::size_t values) {
  std::vector<TrainedMember> members(5);
  for (std::size_t m = 0; m < members.size(); ++m) {
    members[m].model.index = static_cast<std::int64_t>(m);
    RandomStream random({m, Purpose::kBench});
    for (std::size_t i = 0; i < values; ++i) {
      members[m].model.parameters.push_back(
          static_cast<float>((random.uniform() - 0.5) * std::pow(10.0, static_cast<double>(i % 9) - 4.0)));
    }
  }
  return members;
}

// Those that this rank of `world` contributes: every rank has some, if there are enough.
std::vector<const TrainedMember*> mine(const std::vector<TrainedMember>& members,
                                       const mpi::Communicator& world) {
  std::vector<const TrainedMember*> mine;
  for (const TrainedMember& member : members) {
    if (member.model.index % world.size() == world.rank()) mine.push_back(&member);
  }
  return mine;
}

Job ensemble_job() {
  Job job = tiny::ensemble_job(3, data::Sharding::kContiguous);
  job.samples.validation_split = 0.25;
  job.ensemble.soups = {"uniform", "weighted", "greedy"};
  return job;
}

}  // namespace

TEST_CASE("an average equals a plain sum, and its bits do not depend on the ranks of the members") {
  const mpi::Communicator self = world().split(world().rank(), 0);
  constexpr std::size_t kValues = (std::size_t{1} << 18) + 77;  // more than one piece
  const std::vector<TrainedMember> members = members_with(kValues);
  const std::vector<double> shares{0.5, 0.125, 0, 0.3, 0.075};
  const std::vector<float> found = average(mine(members, world()), shares, kValues, world());
  REQUIRE(found.size() == kValues);
  CHECK(found == average(mine(members, self), shares, kValues, self));
  double worst = 0;
  for (std::size_t i = 0; i < kValues; ++i) {
    double sum = 0, size = 0;
    for (std::size_t m = 0; m < members.size(); ++m) {
      sum += shares[m] * static_cast<double>(members[m].model.parameters[i]);
      size += shares[m] * std::abs(static_cast<double>(members[m].model.parameters[i]));
    }
    worst = std::max(worst, std::abs(static_cast<double>(found[i]) - sum) / size);
  }
  CHECK(worst < 6e-8);  // the rounding to float
}

TEST_CASE("the average of a member alone is the member") {
  const std::vector<TrainedMember> members = members_with(1000);
  CHECK(average(mine(members, world()), std::vector<double>{0, 0, 0, 1, 0}, 1000, world()) ==
        members[3].model.parameters);
}

TEST_CASE("a member with a parameter that is not finite has no average, on any rank") {
  std::vector<TrainedMember> members = members_with(10);
  members[1].model.parameters[3] = std::numeric_limits<float>::quiet_NaN();
  const auto all = [&] { average(mine(members, world()), std::vector<double>(5, 0.2), 10, world()); };
  CHECK_THAT(error_of(all), Contains("a member has a parameter that is not finite"));
}

TEST_CASE("the samples that validate mixtures are those that no member trains on") {
  const tiny::Pictures pictures(16);
  const data::BatchLoader loader = pictures.loader();
  Job job = ensemble_job();
  job.ensemble.members = 2;
  SECTION("shards: what each member holds out of its own") {
    CHECK(common_validation(job, loader).ids == std::vector<std::uint32_t>{6, 7, 14, 15});
  }
  SECTION("the full data: what all of them hold out") {
    job.ensemble.shards = data::Sharding::kFull;
    CHECK(common_validation(job, loader).ids == std::vector<std::uint32_t>{12, 13, 14, 15});
  }
  SECTION("bootstrap: samples held out that nobody has drawn for training") {
    job.ensemble.shards = data::Sharding::kBootstrap;
    const std::vector<std::uint32_t> common = common_validation(job, loader).ids;
    CHECK(common.size() == 2);  // a quarter of a share of 8
    std::vector<std::uint32_t> expected;
    for (std::uint32_t id = 0; id < 16; ++id) {
      bool held = false, trained = false;
      for (std::int64_t member = 0; member < 2; ++member) {
        const data::Holdout ids = samples_of(job, loader, member);
        held = held || std::count(ids.validation.begin(), ids.validation.end(), id) > 0;
        trained = trained || std::count(ids.train.begin(), ids.train.end(), id) > 0;
      }
      if (held && !trained) expected.push_back(id);
    }
    CHECK(common == expected);
  }
  SECTION("a separate split: all of it") {
    const tiny::Pictures held(5, 8);
    const data::BatchLoader validation = held.loader();
    CHECK(common_validation(job, DataLoaders(loader, &validation)).ids == held.ids());
  }
}

TEST_CASE("soups without the validation samples that they need are refused before training") {
  const tiny::Pictures pictures(16);
  const data::BatchLoader loader = pictures.loader();
  Job job = ensemble_job();
  CHECK_NOTHROW(require_soups(job, loader));
  job.samples.validation_split = 0;
  CHECK_THAT(error_of([&] { require_soups(job, loader); }),
             Contains("a weighted soup needs the validation accuracy"));
  job.ensemble.soups = {"uniform"};
  CHECK_NOTHROW(require_soups(job, loader));
}

TEST_CASE("soups of an ensemble are the same on any ranks; they equal plain averages, and have files") {
  const tiny::Pictures pictures(240), test(60, 99);
  const Job job = ensemble_job();
  const data::BatchLoader training = pictures.loader(), tested = test.loader();
  const DataLoaders loaders(training);
  const auto run_on = [&](const mpi::Communicator& world) {
    const tiny::Run run(world);
    tiny::Result result = tiny::train_all(job, pictures, world, run.folder);
    const Verdict verdict = gather_and_vote(job, result.training, split(world, job.ensemble.members), world,
                                            tested, run.folder, result.phases, &loaders);
    world.barrier();
    std::vector<std::vector<float>> soups;
    for (const std::string& soup : job.ensemble.soups) {
      soups.push_back(run::load_models(run.folder.file("soup-" + soup + ".h5")).members.at(0).parameters);
    }
    return std::tuple(verdict.test.soups, soups, run::load_models(run.folder.path()).members);
  };
  const mpi::Communicator self = world().split(world().rank(), 0);
  const auto [expected, expected_files, same_members] = run_on(self);
  const auto [found, files, members] = run_on(world());
  CHECK(files == expected_files);
  REQUIRE(found.size() == 3);
  for (std::size_t s = 0; s < 3; ++s) {
    CAPTURE(found[s].name);
    CHECK(found[s].name == job.ensemble.soups[s]);
    CHECK(found[s].shares == expected[s].shares);
    CHECK(found[s].score.accuracy == expected[s].score.accuracy);
    CHECK(std::accumulate(found[s].shares.begin(), found[s].shares.end(), 0.0) == Approx(1));
    std::vector<float> plain;
    for (std::size_t i = 0; i < files[s].size(); ++i) {
      double sum = 0;
      for (std::size_t m = 0; m < members.size(); ++m) {
        sum += found[s].shares[m] * static_cast<double>(members[m].parameters[i]);
      }
      plain.push_back(static_cast<float>(sum));
    }
    for (std::size_t i = 0; i < plain.size(); ++i) {
      if (std::abs(plain[i] - files[s][i]) > 1e-6F * std::abs(plain[i]) + 1e-12F) FAIL_CHECK(i);
    }
    CHECK(found[s].score.accuracy == Approx(tiny::plain_score(files[s], test).accuracy));
  }
  CHECK(found[0].shares == std::vector<double>(3, 1.0 / 3));

  // The greedy soup is never worse on its validation samples than the best member.
  const CommonValidation common = common_validation(job, loaders);
  engine::Evaluator evaluator(tiny::graph());
  const auto validated = [&](std::span<const float> parameters) {
    evaluator.load(parameters);
    return engine::score(evaluator, common.loader, common.ids, self).accuracy;
  };
  double accuracy = 0, best = 0;
  for (const run::Member& member : members) {
    if (member.validation_accuracy <= accuracy) continue;
    accuracy = member.validation_accuracy;
    best = validated(member.parameters);
  }
  CHECK(validated(files[2]) >= best);
}

TEST_CASE("one member is no soup") {
  const tiny::Pictures pictures(120), test(20, 99);
  Job job = ensemble_job();
  job.ensemble.members = 1;
  const tiny::Run run(world());
  const data::BatchLoader training = pictures.loader();
  const DataLoaders loaders(training);
  tiny::Result result = tiny::train_all(job, pictures, world(), run.folder);
  const Verdict verdict = gather_and_vote(job, result.training, split(world(), 1), world(), test.loader(),
                                          run.folder, result.phases, &loaders);
  CHECK(verdict.test.soups.empty());
  CHECK_FALSE(exists(run.folder.file("soup-uniform.h5")));
}

#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/train/on_divergence.hpp"
#include "convoke/train/summary.hpp"
#include "convoke/train/verdict.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/replaced_calls.hpp"
#include "support/text.hpp"
#include "support/tiny.hpp"
#include "support/training.hpp"
#include "support/world.hpp"

// Training that diverges, on 1 to 4 ranks: it is the same on all of them.

using namespace convoke;
using namespace convoke::train;
using tiny::train_all;

namespace {

constexpr double kFar = 1e30;  // a learning rate with which the second step has a loss that is not finite

/// Three epochs; in the last one the learning rate is far too high.
Job late_divergence() {
  Job job = tiny::job();
  job.loop.epochs = 3;
  job.checkpoints.every.epochs = 1;
  job.loop.stages = {Stage{.epoch = 3, .unfreeze = {}, .learning_rate = kFar}};
  return job;
}

OnDivergence restore(double factor, std::int64_t times = 3) {
  return {.action = OnDivergence::Action::kRestore, .factor = factor, .times = times};
}

}  // namespace

TEST_CASE("a divergence names layer, step, rank and the last good checkpoint") {
  const tiny::Pictures pictures(128);
  const tiny::Run run(world());
  const std::string why = error_of([&] { train_all(late_divergence(), pictures, world(), run.folder); });
  CHECK_THAT(why,
             Contains("the loss is not finite at epoch 3, step 2: first in dense_1 on rank 0; the last good "
                      "checkpoint is " +
                      (run.folder.checkpoints() / "epoch-0002.h5").string()));

  Job early = tiny::job();
  early.loop.learning_rate = kFar;
  CHECK_THAT(error_of([&] { train_all(early, pictures, world()); }), Contains("there is no checkpoint yet"));
}

TEST_CASE("a run goes back to its checkpoint with a lower rate, and ends as if it had had that rate") {
  const tiny::Pictures pictures(128);
  constexpr double kFactor = 1e-32;
  for (const bool local : {false, true}) {
    CAPTURE(local);
    Job job = late_divergence();
    Job steady = late_divergence();
    steady.loop.stages.front().learning_rate = kFar * kFactor;
    if (local)
      job.loop.strategy = steady.loop.strategy = sync::make_strategy({{"name", "local-sgd"}, {"every", 2}});
    job.loop.on_divergence = restore(kFactor);
    const tiny::Run run(world());
    const tiny::Result result = train_all(job, pictures, world(), run.folder);
    const TrainedMember& member = result.training.members.at(0);
    CHECK(member.restores == 1);
    CHECK(member.rate_factor == kFactor);
    CHECK(member.epochs_done == 3);
    CHECK(member.model.parameters ==
          train_all(steady, pictures, world()).training.members.at(0).model.parameters);
    if (world().root()) {
      const std::string lines = bytes_of(run.folder.metrics());
      CHECK(times(lines, R"("event":"epoch")") == 3);
      CHECK_THAT(lines, Contains(R"("event":"restore","member":0,"step":8,"restores":1)"));
    }
  }
}

TEST_CASE("after a restore, steps are validated anew, and the logs have each of them once") {
  const tiny::Pictures pictures(128);
  constexpr double kFactor = 1e-32;
  const auto validations = [&](const Job& job) {
    const tiny::Run run(world());
    train_all(job, pictures, world(), run.folder);
    world().barrier();
    std::vector<std::string> lines;
    for (const Settings& line : metrics::read_json_lines(run.folder.metrics())) {
      if (text_at(line, "event") == "validation") lines.push_back(metrics::to_json(line));
    }
    CHECK(times(bytes_of(run.folder.file("metrics.csv")), "validation,0,") == std::ssize(lines));
    return lines;
  };
  Job job = late_divergence();
  job.samples.validation_split = 0.25;
  job.loop.validate_every = 1;
  job.log.csv = true;
  Job steady = job;
  steady.loop.stages.front().learning_rate = kFar * kFactor;
  job.loop.on_divergence = restore(kFactor);
  CHECK(validations(job) == validations(steady));
}

TEST_CASE("without a checkpoint, a run begins again with a lower rate") {
  const tiny::Pictures pictures(128);
  Job job = tiny::job();
  job.loop.learning_rate = kFar;
  job.loop.on_divergence = restore(1e-16);  // the second restore has 0.01
  const tiny::Result result = train_all(job, pictures, world());
  const TrainedMember& member = result.training.members.at(0);
  CHECK(member.restores == 2);
  Job steady = tiny::job();
  steady.loop.learning_rate = kFar * (1e-16 * 1e-16);
  CHECK(member.model.parameters ==
        train_all(steady, pictures, world()).training.members.at(0).model.parameters);
}

TEST_CASE("a first step that exact sums cannot hold ends the training: a lower rate does not help") {
  const tiny::Pictures pictures(128);
  Job job = tiny::job();
  job.engine.reduction = engine::Reduction::kExact;
  job.loop.on_divergence = restore(0.5);
  const auto parameters = engine::canonical_parameters(job.model.graph);
  run::InitialWeights weights;
  weights.values.assign(engine::canonical_values(parameters), 3e4F);
  weights.given.assign(parameters.size(), false);
  REQUIRE(parameters[0].name == "conv2d_1.weight");
  weights.given[0] = true;
  job.weights = std::make_shared<const run::InitialWeights>(weights);
  for (const char* strategy : {"allreduce", "local-sgd"}) {
    CAPTURE(strategy);
    job.loop.strategy = sync::make_strategy({{"name", strategy}});
    const tiny::Run run(world());
    const std::string why = refusal_of([&] { train_all(job, pictures, world(), run.folder); });
    CHECK_THAT(why, Contains("a value is too large for train.reduction = \"exact\" at epoch 1, step ") &&
                        Contains("first in the statistic batch_norm_1.running_variance (") &&
                        Contains("data.normalize"));
    world().barrier();
    if (world().root()) CHECK(times(bytes_of(run.folder.metrics()), "restore") == 0);
  }
}

TEST_CASE("a run goes back only so many times, also over restarts of the job") {
  const tiny::Pictures pictures(128);
  Job job = late_divergence();
  job.loop.on_divergence = restore(0.5, 2);
  CHECK_THAT(error_of([&] { train_all(job, pictures, world()); }),
             Contains("the loss is not finite at epoch 3, step 2"));

  // The checkpoints store what has been restored.
  Job once = late_divergence();
  once.loop.on_divergence = restore(1e-32, 1);
  const tiny::Run other(world());
  train_all(once, pictures, world(), other.folder);
  once.loop.epochs = 5;
  once.loop.stages.push_back(Stage{.epoch = 5, .unfreeze = {}, .learning_rate = 1e70});
  CHECK_THAT(error_of([&] { train_all(once, pictures, world(), other.folder, true); }),
             Contains("not finite at epoch 5"));
}

TEST_CASE("a member that diverges is dropped, or ends the job; the others vote") {
  tiny::Pictures pictures(128);
  for (std::size_t i = 0; i < 64; ++i) pictures.labels[i] = static_cast<std::int32_t>(i % 3);
  Job job = tiny::ensemble_job(2, data::Sharding::kContiguous, engine::Reduction::kFast);
  job.shuffle = {};
  // Class 3 occurs in the shard of member 1 alone.
  job.engine.loss = job.model.loss = nn::make_loss({{"class_weights", Value::Array{1, 1, 1, 3e38}}});
  const Groups groups = split(world(), 2);
  const tiny::Result result = train_all(job, pictures, world());
  const auto members = list_members(result.training.members, groups, world());
  REQUIRE(members.size() == 2);
  CHECK(members[0].failure.empty());
  CHECK_THAT(members[1].failure, Contains("not finite") && Contains("there is no checkpoint yet"));
  if (world().size() > 1) return;  // the others would wait for a job that ends
  job.loop.on_divergence.action = OnDivergence::Action::kStop;
  CHECK_THROWS_AS(train_all(job, pictures, world()), Divergence);
}

TEST_CASE("members that diverge leave no communicators, no shared memory and no open files") {
  const tiny::Pictures pictures(32);
  Job job = tiny::ensemble_job(1, data::Sharding::kFull, engine::Reduction::kFast);
  job.loop.epochs = 1;
  job.loop.learning_rate = kFar;
  job.engine.batch = 8;
  const auto leaves_after = [&](std::int64_t members) {
    job.ensemble.members = members;
    {
      const tiny::Run run(world());
      const std::vector<std::int64_t> all_ranks{world().size()};  // one group trains all members
      const data::BatchLoader loader = pictures.loader();
      run::Phases phases;
      const Training training = train_members(job, loader, split(world(), members, all_ranks), world(),
                                              run.folder, false, true, phases);
      for (const TrainedMember& member : training.members) CHECK_THAT(member.failure, Contains("not finite"));
    }
    return std::vector<std::ptrdiff_t>{replaced::counts.comm_split - replaced::counts.comm_free,
                                       times(bytes_of("/proc/self/maps"), "memfd:"),
                                       times(bytes_of("/proc/self/maps"), "/dev/shm/"),
                                       static_cast<std::ptrdiff_t>(entries_in("/proc/self/fd").size())};
  };
  CHECK(leaves_after(50) == leaves_after(1));
}

TEST_CASE("a parameter that ReLU hides is found before it is stored, and named") {
  const tiny::Pictures pictures(128);
  Job job = tiny::job();
  job.model.graph =
      nn::build_graph(Shape{1, 8, 8}, {{{"layer", "conv2d"}, {"filters", 8}, {"kernel", 3}},
                                       {{"layer", "relu"}},
                                       {{"layer", "flatten"}},
                                       {{"layer", "dense"}, {"units", 4}, {"activation", "softmax"}}});
  job.checkpoints.every.steps = 1;
  const auto parameters = engine::canonical_parameters(job.model.graph);
  run::InitialWeights weights;
  weights.values.assign(engine::canonical_values(parameters), 0.01F);
  weights.given.assign(parameters.size(), true);
  REQUIRE(parameters[1].name == "conv2d_1.bias");
  weights.values[parameters[1].offset + 2] = std::numeric_limits<float>::quiet_NaN();
  job.weights = std::make_shared<const run::InitialWeights>(weights);
  for (const bool often : {false, true}) {  // with a second of steps, the ranks agree within the epoch
    CAPTURE(often);
    job.loop.epochs = often ? 1000 : 1;
    const tiny::Run run(world());
    const std::string why = error_of([&] { train_all(job, pictures, world(), run.folder); });
    CHECK_THAT(why, Contains("conv2d_1"));
    CHECK_THAT(why, Contains("not finite"));
    world().barrier();
    if (world().root()) CHECK(entries_in(run.folder.checkpoints()).empty());
    world().barrier();
  }
}

TEST_CASE("the summary tells of restores") {
  const tiny::Pictures pictures(128);
  Job job = late_divergence();
  job.loop.on_divergence = restore(1e-32);
  const tiny::Run run(world());
  const tiny::Result result = train_all(job, pictures, world(), run.folder);
  run::Phases phases;
  const Verdict verdict = gather_and_vote(job, result.training, split(world(), 1), world(), pictures.loader(),
                                          run.folder, phases);
  const run::Machine machine = run::survey(world());
  const Cost cost = cost_of(1, machine, 1, phases, run::OtherPrograms(machine), world());
  CHECK_THAT(summary_text(job, verdict, cost),
             Contains("diverged and went back to a checkpoint 1 time; its learning "
                      "rate is 1e-32 times as high\n"));
  const Settings summary = train::summary(job, verdict, cost);
  CHECK(summary.find("member_facts") != nullptr);
}

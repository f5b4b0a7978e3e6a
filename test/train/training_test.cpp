#include <csignal>

#include "convoke/os/stop_signals.hpp"
#include "convoke/run/environment.hpp"
#include "convoke/train/member_queue.hpp"
#include "convoke/train/summary.hpp"
#include "convoke/train/verdict.hpp"
#include "support/catch.hpp"
#include "support/differences.hpp"
#include "support/error_of.hpp"
#include "support/slow_loss.hpp"
#include "support/text.hpp"
#include "support/tiny.hpp"
#include "support/training.hpp"
#include "support/world.hpp"

// Training as a whole, on 1 to 4 ranks: the results must not depend on the ranks.

using namespace convoke;
using namespace convoke::engine;
using namespace convoke::run;
using namespace convoke::train;
using tiny::alone;
using tiny::Result;
using tiny::Run;
using tiny::train_all;

TEST_CASE("an exact run is bit-identical for any number of ranks and threads") {
  const tiny::Pictures pictures(
      150);  // the last step has 150 - 4 * 32 = 22 samples: two micro-batches and a smaller one
  const std::vector<float> expected = alone(tiny::job(), pictures, world());
  for (const int threads : {1, 2}) {
    Job job = tiny::job();
    job.engine.threads = threads;
    const Result result = train_all(job, pictures, world());
    REQUIRE(result.training.members.size() == 1);
    CHECK(result.parameters() == expected);
    CHECK_FALSE(bool(result.training.interrupted_by));
  }
}

TEST_CASE(
    "an exact run with augmentation, mixtures and balanced classes is the same on any ranks, also resumed") {
  tiny::Pictures pictures(150);
  for (std::size_t i = 0; i < 60; ++i) pictures.labels[i] = 0;  // uneven classes: some samples come twice
  data::AugmentOptions options;
  options.rotation_range = 15;
  options.width_shift_range = {0.1};
  options.brightness_range = {0.8, 1.2};
  options.contrast_range = {0.8, 1.2};
  options.horizontal_flip = true;
  options.cutout = 2;
  options.mixup = options.cutmix = 0.5;
  Job job = tiny::job();
  const std::vector<float> plain = alone(job, pictures, world());
  job.augmenter = std::make_shared<const data::Augmenter>(options, Shape{1, 8, 8}, data::SampleType::kUint8);
  job.samples.sampling = data::Sampling::kBalanced;
  job.samples.validation_split = 0.1;
  const std::vector<float> expected = alone(job, pictures, world());
  CHECK(expected != plain);
  for (const int threads : {1, 3}) {
    job.engine.threads = threads;
    const Run run(world());
    Job half = job;
    half.loop.epochs = 1;
    train_all(half, pictures, world(), run.folder);
    const Result result = train_all(job, pictures, world(), run.folder, true);
    CHECK(result.parameters() == expected);
  }
}

TEST_CASE(
    "an exact run with a focal loss is the same on any ranks, and with gamma 0 the run of cross-entropy") {
  const tiny::Pictures pictures(150);
  const auto job_with = [](double gamma) {
    Job job = tiny::job();
    job.engine.loss = nn::make_loss(
        {{"name", "softmax_focal"}, {"gamma", gamma}, {"class_weights", Value::Array{1, 2, 1, 3}}});
    return job;
  };
  const Job job = job_with(2);
  const std::vector<float> focal = train_all(job, pictures, world()).parameters();
  CHECK(focal == alone(job, pictures, world()));
  Job weighted = tiny::job();
  weighted.engine.loss = nn::make_loss({{"class_weights", Value::Array{1, 2, 1, 3}}});
  const std::vector<float> plain = alone(weighted, pictures, world());
  CHECK(focal != plain);
  CHECK(alone(job_with(0), pictures, world()) == plain);
}

TEST_CASE("with a moving average, the average is validated and kept") {
  const tiny::Pictures pictures(150);
  Job job = tiny::job();
  job.samples.validation_split = 0.2;
  const Result plain = train_all(job, pictures, world());
  job.engine.update.ema = 0.99;
  const Run run(world());
  const Result result = train_all(job, pictures, world(), run.folder);
  const std::vector<float>& kept = result.parameters();
  CHECK(kept == alone(job, pictures, world()));
  // Training of the weights themselves is the same as without it.
  if (world().root()) {
    const Checkpoints checkpoints(run.folder.checkpoints(), canonical_parameters(tiny::graph()),
                                  job.fingerprint, job.recipe);
    const CheckpointState state = checkpoints.newest([](const auto&) {}).value();
    CHECK(state.parameters == plain.parameters());
    CHECK(state.average == kept);
    CHECK(state.validation_accuracy == Approx(tiny::plain_score(kept, pictures, 120).accuracy));
  }
}

TEST_CASE("a fast run differs by rounding only") {
  const tiny::Pictures pictures(128);
  Job job = tiny::job(Reduction::kFast);
  // Not Adam: the gradient of a bias before batch norm is pure rounding error, which Adam divides by itself.
  job.loop.optimizer = optim::make_optimizer({{"name", "sgd"}, {"momentum", 0.9}});
  const std::vector<float> expected = alone(job, pictures, world());
  CHECK(relative_difference(train_all(job, pictures, world()).parameters(), expected) < 1e-5);
}

TEST_CASE("a run that is interrupted and resumed ends like an uninterrupted run") {
  const tiny::Pictures pictures(150);
  Job job = tiny::job();
  job.loop.epochs = 4;
  job.samples.validation_split = 0.2;
  if (GENERATE(false, true)) {
    job.loop.optimizer = optim::make_optimizer({{"name", "lamb"}});
    job.engine.update = {.clip_norm = 0.5, .ema = 0.9};
    // Reduces the rate after every epoch except the first.
    job.loop.schedule = optim::make_schedule({{"name", "plateau"}, {"patience", 1}, {"min_delta", 100}});
  }
  const std::vector<float> expected = alone(job, pictures, world());

  {
    INFO("after a whole epoch");
    const Run run(world());
    Job half = job;
    half.loop.epochs = 2;
    train_all(half, pictures, world(), run.folder);
    const Result result = train_all(job, pictures, world(), run.folder, true);
    CHECK(result.parameters() == expected);
    CHECK(result.training.members[0].samples_processed == 2 * 120);

    const Result none_left = train_all(job, pictures, world(), run.folder, true);
    CHECK(none_left.training.members[0].samples_processed == 0);
    CHECK(none_left.parameters() == expected);
  }
  {
    INFO("by a signal on one rank, within an epoch");
    const Run run(world());
    const Result stopped =
        tiny::interrupted(world(), [&] { return train_all(job, pictures, world(), run.folder); });
    CHECK(bool(stopped.training.interrupted_by));
    CHECK(stopped.training.members[0].samples_processed == 32);  // agreed after the first step
    CHECK(exists(run.folder.checkpoints() / "epoch-0000-step-000001.h5"));
    const Result result = train_all(job, pictures, world(), run.folder, true);
    CHECK_FALSE(bool(result.training.interrupted_by));
    CHECK(result.parameters() == expected);
    CHECK(result.training.members[0].model.validation_accuracy >= 0);
  }
}

TEST_CASE("a different resume fingerprint is refused on all ranks") {
  const tiny::Pictures pictures(64);
  const Run run(world());
  Job job = tiny::job();
  train_all(job, pictures, world(), run.folder);
  job.fingerprint = {{"train.batch", "32"}, {"seed", "4"}};
  const std::string why = error_of([&] { train_all(job, pictures, world(), run.folder, true); });
  CHECK(contains(why, "seed: 3 in the checkpoint, 4 now"));
}

TEST_CASE("one synchronous model learns, and its verdict equals that of a plain loop") {
  const tiny::Pictures pictures(256);
  const tiny::Pictures test(101, 99);
  Job job = tiny::job(Reduction::kFast);
  job.loop.epochs = 6;
  const Run run(world());
  Result result = train_all(job, pictures, world(), run.folder);
  const std::vector<float> parameters = result.parameters();
  const data::BatchLoader loader = test.loader();
  const Groups groups = split(world(), 1);
  const Verdict verdict =
      gather_and_vote(job, result.training, groups, world(), loader, run.folder, result.phases);
  const tiny::PlainScore expected = tiny::plain_score(parameters, test);
  CHECK(verdict.report.accuracy == Approx(expected.accuracy));
  CHECK(verdict.test.members.at(0).accuracy == Approx(expected.accuracy));
  CHECK(verdict.test.members[0].loss == Approx(expected.loss).epsilon(1e-4));
  CHECK(verdict.report.accuracy > 0.8);
  CHECK(verdict.test.rule("majority").prefix_accuracies.size() == 1);
  CHECK(verdict.test.diversity.disagreement() == 0);
  CHECK(verdict.samples_processed() == 6 * 256);
  CHECK(load_models(run.folder.path()).members.at(0).parameters == parameters);
}

TEST_CASE("an ensemble is the same on any number of ranks, in groups and one after another") {
  const tiny::Pictures pictures(240);
  const tiny::Pictures test(60, 99);
  Job job = tiny::ensemble_job(3, data::Sharding::kContiguous);
  job.samples.validation_split = 0.25;
  job.ensemble.rule = "mean";

  const auto run_on = [&](const mpi::Communicator& world) {
    const Run run(world);
    Result result = train_all(job, pictures, world, run.folder);
    const data::BatchLoader loader = test.loader();
    Verdict verdict = gather_and_vote(job, result.training, split(world, job.ensemble.members), world, loader,
                                      run.folder, result.phases);
    world.barrier();
    return std::pair(std::move(verdict), load_models(run.folder.path()));
  };
  const mpi::Communicator self = world().split(world().rank(), 0);
  const auto [expected, expected_models] = run_on(self);
  const auto [found, models] = run_on(world());

  REQUIRE(models.members.size() == 3);
  for (std::size_t m = 0; m < 3; ++m) {
    CHECK(models.members[m].parameters == expected_models.members[m].parameters);
    CHECK(models.members[m].seed == member_seed(3, static_cast<std::int64_t>(m)));
    CHECK(models.members[m].training_samples == 60);
    CHECK(found.members[m].model.validation_accuracy == expected.members[m].model.validation_accuracy);
    CHECK(found.test.members[m].accuracy == expected.test.members[m].accuracy);
  }
  CHECK(models.members[0].parameters != models.members[1].parameters);
  CHECK(found.voters == std::vector<std::int64_t>{0, 1, 2});
  CHECK(found.test.diversity.disagreement() == expected.test.diversity.disagreement());
  CHECK(found.samples_processed() == 3 * 2 * 60);
  for (const std::string rule : {"majority", "mean"}) {
    const RuleOutcome& outcome = found.test.rule(rule);
    CHECK(outcome.all.total() == 60);
    REQUIRE(outcome.prefix_accuracies.size() == 3);
    CHECK(outcome.prefix_accuracies == expected.test.rule(rule).prefix_accuracies);
    CHECK(outcome.prefix_accuracies[2] == accuracy(outcome.all));
    // With one voter the vote equals its own prediction.
    CHECK(outcome.prefix_accuracies[0] == found.test.members[0].accuracy);
  }
  CHECK(found.report.accuracy == accuracy(found.test.rule("mean").all));
}

TEST_CASE("groups have as many ranks as the list says, and the members do not depend on it") {
  if (world().size() < 3) return;
  const std::vector<std::int64_t> ranks{world().size() - 1, 1};
  const Groups groups = split(world(), 3, ranks);
  CHECK(groups.count == 2);
  CHECK(groups.mine == (world().rank() < world().size() - 1 ? 0 : 1));
  CHECK(groups.group.size() == (groups.mine == 0 ? world().size() - 1 : 1));
  CHECK_FALSE(groups.equal);
  MemberQueue queue(groups, world());  // without serve(): unlike groups ask nobody
  std::vector<std::int64_t> mine;
  while (const auto member = queue.next()) mine.push_back(*member);
  CHECK(mine == (groups.mine == 0 ? std::vector<std::int64_t>{0, 2} : std::vector<std::int64_t>{1}));
  const std::vector<std::int64_t> too_many{world().size(), 1};
  CHECK(contains(error_of([&] { split(world(), 2, too_many); }), "the groups of ensemble.ranks have"));
  CHECK(contains(error_of([&] { split(world(), 1, ranks); }), "has 2 groups, but the ensemble has 1 member"));
}

TEST_CASE("a group that is free takes the next member, and no member depends on its group") {
  const tiny::Pictures pictures(120);
  Job job = tiny::ensemble_job(2 * world().size() + 1, data::Sharding::kFull);
  const Groups groups = split(world(), job.ensemble.members);
  const mpi::Communicator self = world().split(world().rank(), 0);
  const std::vector<TrainedMember> expected = train_all(job, pictures, self).training.members;
  REQUIRE(std::ssize(expected) == job.ensemble.members);

  const bool slow = world().rank() == world().size() - 1 && world().size() > 1;
  if (slow) job.engine.loss = std::make_shared<const tiny::SlowLoss>();  // at least 0.24 s for a member
  const Result result = train_all(job, pictures, world());
  if (slow) CHECK(result.training.members.size() == 1);
  std::vector<std::int64_t> trained(static_cast<std::size_t>(job.ensemble.members));
  for (const TrainedMember& member : result.training.members) {
    const auto index = static_cast<std::size_t>(member.model.index);
    ++trained[index];
    if (groups.group.root()) CHECK(std::ranges::equal(member.parameters(), expected[index].parameters()));
  }
  world().sum(std::span(trained));
  CHECK(trained == std::vector<std::int64_t>(trained.size(), 1));
}

TEST_CASE("an ensemble resumes with some members finished, one in progress, and others not started") {
  const tiny::Pictures pictures(150);
  Job job = tiny::ensemble_job(3, data::Sharding::kContiguous);
  const Result whole = train_all(job, pictures, world());

  // In each round, every group trains one of its members by one step.
  const Run run(world());
  Result part;
  int parts = 0;
  do {
    const os::StopSignals signals;
    world().barrier();
    std::raise(SIGUSR1);
    part = train_all(job, pictures, world(), run.folder, true);
  } while (part.training.interrupted_by && ++parts < 100);
  const os::StopSignals forget;
  CHECK(parts >= 2 * 2);  // two epochs of two steps
  const Groups groups = split(world(), job.ensemble.members);
  const std::vector<TrainedMember> expected = list_members(whole.training.members, groups, world());
  const std::vector<TrainedMember> found = list_members(part.training.members, groups, world());
  REQUIRE(found.size() == 3);
  for (std::size_t m = 0; m < found.size(); ++m) CHECK(found[m].epochs_done == expected[m].epochs_done);
  CHECK(tiny::parameters_of_all(part.training, job, world()) ==
        tiny::parameters_of_all(whole.training, job, world()));
}

TEST_CASE("metrics.jsonl contains the epochs of all members and the evaluation") {
  const tiny::Pictures pictures(120);
  const Job job = tiny::ensemble_job(2, data::Sharding::kContiguous, Reduction::kFast);
  const Run run(world());
  Result result = train_all(job, pictures, world(), run.folder);
  const data::BatchLoader loader = pictures.loader();
  gather_and_vote(job, result.training, split(world(), 2), world(), loader, run.folder, result.phases);
  const std::string lines = bytes_of(run.folder.metrics());
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 2 * 2 + 1);
  CHECK(contains(lines, R"("member":1,"epoch":2)"));
  CHECK(contains(lines, R"("event":"evaluation")"));
}

TEST_CASE("a member that diverges leaves the vote; the others stay") {
  tiny::Pictures pictures(128);
  const Run run(world());
  const Job job = tiny::ensemble_job(2, data::Sharding::kContiguous);
  const Groups groups = split(world(), 2);
  const data::BatchLoader loader = pictures.loader();
  Result result = train_all(job, pictures, world(), run.folder);
  for (TrainedMember& member : result.training.members) {
    if (member.model.index == 0) {
      member.failure = "the loss is not finite";
      member.model.parameters.clear();
    }
  }
  const Verdict verdict =
      gather_and_vote(job, result.training, groups, world(), loader, run.folder, result.phases);
  CHECK(verdict.voters == std::vector<std::int64_t>{1});
  CHECK(verdict.members[0].failure == "the loss is not finite");
  CHECK(verdict.test.members.size() == 1);
  world().barrier();
  CHECK(load_models(run.folder.path()).members.at(0).index == 1);
}

TEST_CASE("a shard that cannot be formed is refused before training, whichever member gets it") {
  const tiny::Pictures pictures(7);
  const auto refused = [&](const Job& job, const data::BatchLoader& loader) {
    const std::int64_t members = job.ensemble.members;
    const Groups groups =
        job.ensemble.member < 0 ? split(world(), members) : only(world(), job.ensemble.member, members);
    return error_of([&] { require_trainable(job, loader, groups, world()); });
  };
  Job job = tiny::ensemble_job(4, data::Sharding::kStratified);  // 2, 2, 2 and 1 samples
  job.samples.validation_split = 0.5;
  CHECK_THAT(refused(job, pictures.loader()), Contains("leaves none of 1 samples to train"));
  job.ensemble.member = 2;  // other jobs train the others
  CHECK(refused(job, pictures.loader()).empty());
  job.ensemble.member = -1, job.samples.validation_split = 0, job.samples.fraction = 0.5;
  CHECK_THAT(refused(job, pictures.loader()),
             Contains("a fraction of 0.5 leaves none of 1 samples to train"));

  job = tiny::ensemble_job(3, data::Sharding::kStratified);
  const std::vector<std::int32_t> two{0, 0, 0, 0, 1, 1, 1};
  data::Split grouped = pictures.split();
  grouped.groups = two;
  CHECK_THAT(refused(job, {grouped, Shape{1, 8, 8}, data::Normalization{{1.0F / 255}, {0}}}),
             Contains("2 groups of samples cannot be shared among 3 members"));
}

TEST_CASE("more ranks and threads than micro-batches, and a batch larger than the dataset, train correctly") {
  const tiny::Pictures pictures(5);
  Job job = tiny::job();
  job.engine.threads = 3;
  const std::vector<float> expected = alone(tiny::job(), pictures, world());
  CHECK(train_all(job, pictures, world()).parameters() == expected);
}

TEST_CASE("ranks stop together at the same step") {
  const os::StopSignals signals;
  StopCalls calls(world(), world());
  StopAgreement stop(world(), std::nullopt, calls);
  CHECK_FALSE(bool(stop.after_step()));
  world().barrier();
  if (world().root()) std::raise(SIGTERM);
  world().barrier();
  double steps = 1;
  StopReason reason;
  while (!(reason = stop.after_step()) && steps < 2e6) ++steps;
  CHECK(reason.to_string() == "SIGTERM");
  double most = steps;
  world().max(std::span(&most, 1));
  CHECK(most == steps);
  CHECK(steps < 2e6);
}

TEST_CASE("ranks stop together when the time limit of one of them is reached") {
  const os::StopSignals none_yet;
  using namespace std::chrono_literals;
  const auto now = std::chrono::steady_clock::now();
  StopCalls calls(world(), world());
  StopAgreement stop(world(), now + (world().root() ? 100ms : 1h), calls);
  double steps = 0;
  StopReason reason;
  while (!(reason = stop.after_step()) && std::chrono::steady_clock::now() < now + 30s) ++steps;
  CHECK(reason.to_string() == "the end of the job's time");
  double most = steps;
  world().max(std::span(&most, 1));
  CHECK(most == steps);
}

TEST_CASE("no rate exceeds the makespan, however the ranks share computing and waiting") {
  // Every rank spends 20 of 21 seconds in steps; the first only computes, the last only waits.
  Phases phases;
  const auto spend = [&](Activity activity, double seconds) {
    phases.timeline->main().record({.end = std::llround(1e9 * seconds), .activity = activity});
  };
  const double steps_of_rank = 20 - 0.5 * world().rank();
  spend(Activity::kLoad, 1 + world().rank());
  spend(Activity::kStep, steps_of_rank);
  spend(Activity::kExchange, world().size() == 1 ? 0 : steps_of_rank * world().rank() / (world().size() - 1));
  const run::Placement placement{.host = "host", .node = 0, .cores = {0, 1}, .quota = 0};
  const run::Machine machine =
      run::machine_of(std::vector(static_cast<std::size_t>(world().size()), placement), world().rank());
  Cost cost = cost_of(21, machine, 2, phases, run::OtherPrograms(machine), world());
  CHECK(std::isnan(cost.other_programs));  // in less than a second the system counts too coarsely
  cost.other_programs = 0.23;
  Verdict verdict;
  verdict.rule = "majority";
  verdict.members.resize(2);
  for (TrainedMember& member : verdict.members) member.samples_processed = 120000;
  verdict.voters = {0, 1};
  verdict.test.samples = 1;
  for (const std::string rule : {"majority", "mean"}) {
    verdict.test.rules.push_back({rule, {0.5, 0.5}, metrics::ConfusionMatrix(4)});
  }
  verdict.test.members = {{1, 0.5, 1.0}, {1, 0.5, 1.0}};
  const Settings summary = train::summary(tiny::job(), verdict, cost);
  const auto number = [](const Settings& table, const char* key) {
    return std::get<double>(table.find(key)->data());
  };
  CHECK(240000 / number(summary, "images_per_second") <= number(summary, "makespan_seconds"));
  CHECK(number(summary, "images_per_second") == Approx(240000 / 20.0));

  // Any number of threads on two cores costs two cores.
  CHECK(std::get<std::int64_t>(summary.find("all_threads")->data()) == 2 * world().size());
  CHECK(std::get<std::int64_t>(summary.find("cores")->data()) == 2);
  CHECK(number(summary, "core_seconds") == Approx(21 * 2));

  const Settings& all = *summary.find("phases")->table();
  double means = 0;
  for (const auto& [name, value] : all.entries()) {
    CAPTURE(name);
    CHECK(number(*value.table(), "max") >= number(*value.table(), "mean"));
    CHECK(number(*value.table(), "mean") >= number(*value.table(), "min"));
    CHECK(number(*value.table(), "max") <= number(summary, "makespan_seconds"));
    if (name == "compute" || name == "exposed_communication") means += number(*value.table(), "mean");
  }
  const Settings& steps = *all.find("steps")->table();
  CHECK(means == Approx(number(steps, "mean")));
  CHECK(number(steps, "min") == 20 - 0.5 * (world().size() - 1));
  CHECK(number(*all.find("load")->table(), "max") == world().size());
  CHECK(number(*all.find("compute")->table(), "max") == 20);
  CHECK(number(summary, "other_programs") == 0.23);
  Job job = tiny::job(engine::Reduction::kFast);
  const std::string text = summary_text(job, verdict, cost);
  CHECK(contains(text, "12,000 images/s: 240,000 images in 20.00 s"));
  CHECK(contains(text, "other programs took 23 % of these cores"));
  CHECK(contains(text, "run.balance=true") == (world().size() > 1));  // else each member has one worker
  job.engine.balance = true;
  CHECK(!contains(summary_text(job, verdict, cost), "run.balance"));
  CHECK(contains(text, "; build " + convoke::run::build_type()));
}

#include "convoke/data/epoch_plan.hpp"
#include "convoke/engine/replica.hpp"
#include "convoke/engine/shares.hpp"
#include "convoke/nn/freeze.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/tiny.hpp"
#include "support/training.hpp"
#include "support/world.hpp"

// Ranks that train on their own and average their models, on 1 to 4 ranks.

using namespace convoke;
using namespace convoke::train;
using tiny::Result;
using tiny::Run;
using tiny::train_all;

namespace {

// 150 samples: the last step of an epoch has 22, which are two micro-batches and a smaller one, so that the
// last of four ranks has none.
constexpr std::size_t kTrainingSamples = 150;

Job local_job(Settings strategy) {
  strategy.set("name", "local-sgd");
  Job job = tiny::job();
  job.loop.strategy = sync::make_strategy(strategy);
  return job;
}

std::vector<float> trained(const Job& job, const mpi::Communicator& world) {
  const tiny::Pictures pictures(kTrainingSamples);
  const Run run(world);
  return train_all(job, pictures, world, run.folder).training.members.at(0).model.parameters;
}

// Local SGD as a plain loop in one process: all replicas one after the other, averaged in their order.
std::vector<float> plain_loop(const Job& job, int replicas, std::int64_t every, float momentum, bool keep,
                              const mpi::Communicator& self) {
  const tiny::Pictures pictures(kTrainingSamples);
  const data::BatchLoader loader = pictures.loader();
  const std::vector<std::uint32_t> ids = pictures.ids();
  std::vector<std::unique_ptr<engine::StepEngine>> engines;
  for (int r = 0; r < replicas; ++r)
    engines.push_back(
        std::make_unique<engine::StepEngine>(job.model.graph, job.engine, loader, *job.loop.optimizer, self));
  const std::size_t slots = job.loop.optimizer->state_slots();
  const std::size_t trainable = engines[0]->layout().trainable_size();
  std::vector<float> before(engines[0]->parameters().begin(), engines[0]->parameters().end());
  std::vector<float> change(trainable);

  const auto average = [&](auto array_of) {
    std::vector<float> sum(array_of(0).begin(), array_of(0).end());
    for (int r = 1; r < replicas; ++r)
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += array_of(r)[i];
    for (float& value : sum) value *= 1.0F / static_cast<float>(replicas);
    return sum;
  };
  const auto set_all = [&](auto array_of, const std::vector<float>& values) {
    for (int r = 0; r < replicas; ++r) std::ranges::copy(values, array_of(r).begin());
  };
  const auto synchronize = [&] {
    const auto parameters = [&](int r) { return engines[static_cast<std::size_t>(r)]->parameters(); };
    std::vector<float> next = average(parameters);
    for (std::size_t i = 0; i < trainable; ++i) {
      next[i] += momentum * change[i];
      change[i] = next[i] - before[i];
    }
    set_all(parameters, next);
    before = next;
    for (std::size_t slot = 0; slot < slots && !keep; ++slot) {
      const auto states = [&](int r) {
        return engines[static_cast<std::size_t>(r)]->optimizer_state(slot).floats();
      };
      set_all(states, average(states));
    }
  };

  for (std::uint32_t epoch = 0; epoch < job.loop.epochs; ++epoch) {
    const data::EpochPlan plan(ids, job.engine.seed, epoch, job.engine.batch, job.shuffle);
    for (std::int64_t step = 0; step < plan.steps(); ++step) {
      for (int r = 0; r < replicas; ++r) {
        engine::StepEngine& engine = *engines[static_cast<std::size_t>(r)];
        const auto samples = plan.step(step);
        const data::SampleRange mine =
            engine::MicroBatchShares(replicas).samples(std::ssize(samples), job.engine.micro_batch, r);
        if (mine.count == 0) {
          engine.set_steps_done(engine.steps_done() + 1);
          continue;
        }
        engine.step(
            epoch,
            samples.subspan(static_cast<std::size_t>(mine.first), static_cast<std::size_t>(mine.count)),
            job.loop.learning_rate);
      }
      if ((step + 1) % every == 0 || step + 1 == plan.steps()) synchronize();
    }
  }
  return unpack(engine::canonical_parameters(job.model.graph), engines[0]->layout(),
                engines[0]->parameters());
}

}  // namespace

TEST_CASE("local SGD is the same as a plain loop over replicas, bit for bit") {
  const mpi::Communicator self = world().split(world().rank(), 0);
  CHECK(trained(local_job({{"every", 2}}), world()) ==
        plain_loop(local_job({}), world().size(), 2, 0, false, self));
  CHECK(trained(local_job({{"every", 3}, {"momentum", 0.5}, {"optimizer_state", "keep"}}), world()) ==
        plain_loop(local_job({}), world().size(), 3, 0.5F, true, self));
}

TEST_CASE("the moving average counts a step in which some ranks have no samples") {
  const tiny::Pictures pictures(40);  // the second step has one micro-batch
  Job job = local_job({});
  job.engine.update.ema = 0.9;
  job.loop.learning_rate = 0;
  const auto after = [&](std::int64_t epochs) {
    job.loop.epochs = epochs;
    const Result result = train_all(job, pictures, world());
    return tiny::of_node(job.model.graph, "conv2d_1", result.parameters());
  };
  const std::vector<float> start = after(0), result = after(1);
  CHECK(result.size() == 8 * 9 + 8);
  for (std::size_t i = 0; i < result.size(); ++i) CHECK(result[i] == Approx(start[i]));
}

TEST_CASE("the mean of states in bf16 is right on average, and the same on all ranks") {
  const tiny::Pictures pictures(8);
  const data::BatchLoader loader = pictures.loader();
  Job job = local_job({});
  job.engine.update.state_precision = nn::Precision::kBfloat16;
  const mpi::Communicator self = world().split(world().rank(), 0);
  engine::StepEngine engine(job.model.graph, job.engine, loader, *job.loop.optimizer, self);
  const engine::StateArray state = engine.optimizer_state(0);
  std::vector<float> values(state.size(), world().rank() == 0 ? 1 + 0x1p-7F : 1.0F);  // neighbors in bf16
  state.write(0, values);
  engine::ModelAverage(engine, job.loop.optimizer->state_slots(), world(), *job.loop.strategy, 3).run();
  state.read(0, values);
  double sum = 0;
  for (const float value : values) sum += value - 1;
  CHECK(sum / static_cast<double>(values.size()) == Approx(0x1p-7 / world().size()).epsilon(0.4));
  std::vector<float> first = values;
  world().broadcast(std::as_writable_bytes(std::span(first)));
  CHECK(first == values);
}

TEST_CASE("a batch norm over a single sample is refused in the share of a rank, and in a later stage") {
  const tiny::Pictures pictures(41);  // the last step of an epoch has a micro-batch of 8 samples and one of 1
  const data::BatchLoader loader = pictures.loader();
  Job job = tiny::job();
  const auto refused = [&] {
    return error_of([&] { require_trainable(job, loader, split(world(), 1), world()); });
  };
  const auto network = [](bool synchronized) {
    return nn::build_graph(Shape{1, 8, 8},
                           {{{"layer", "flatten"}},
                            {{"layer", "batch_norm"}, {"name", "norm"}, {"synchronized", synchronized}},
                            {{"layer", "dense"}, {"units", 4}, {"activation", "softmax"}}});
  };
  job.model.graph = network(true);
  CHECK(refused().empty());
  job.loop.strategy = sync::make_strategy({{"name", "local-sgd"}, {"after_epochs", 1}});
  CHECK(refused().empty() == (world().size() == 1));
  job.loop.epochs = 1;
  CHECK(refused().empty());
  job.model.graph = network(false);
  nn::freeze(job.model.graph, std::vector<std::string>{"norm"});
  job.loop.stages = {{.epoch = 2, .unfreeze = {"norm"}, .learning_rate = 0}};
  CHECK(refused().empty());
  job.loop.epochs = 2;
  CHECK_THAT(refused(), Contains("the last micro-batch of an epoch is one sample"));

  // Only the members that a group trains count.
  job.ensemble = {.members = 5, .shards = data::Sharding::kContiguous};  // the last has 9 samples, others 8
  const auto refused_alone = [&](std::int64_t member) {
    return error_of([&] { require_trainable(job, loader, only(world(), member, 5), world()); });
  };
  CHECK(refused_alone(0).empty());
  CHECK_THAT(refused_alone(4), Contains("the last micro-batch of an epoch is one sample"));
}

TEST_CASE("one rank, and epochs that sum gradients, train as without local SGD") {
  const std::vector<float> summed = trained(tiny::job(), world());
  CHECK(trained(local_job({{"every", 2}, {"after_epochs", 2}}), world()) == summed);
  CHECK((trained(local_job({{"every", 2}}), world()) == summed) == (world().size() == 1));
  CHECK((trained(local_job({{"every", 2}, {"after_epochs", 1}}), world()) == summed) ==
        (world().size() == 1));
}

TEST_CASE("local SGD that is interrupted and resumed ends like an uninterrupted run") {
  const tiny::Pictures pictures(kTrainingSamples);
  const Settings strategy = GENERATE(
      Settings{{"every", 2}}, Settings{{"every", 2}, {"momentum", 0.5}, {"optimizer_state", "keep"}},
      Settings{{"every", 2}, {"optimizer_state", "reset"}}, Settings{{"every", 2}, {"after_epochs", 1}});
  Job job = local_job(strategy);
  job.engine.update.ema = 0.9;
  if (strategy.find("after_epochs") != nullptr) job.engine.update.state_precision = nn::Precision::kBfloat16;
  job.loop.epochs = 3;
  job.checkpoints.every = {.steps = 2};
  const std::vector<float> expected = trained(job, world());

  {
    INFO("after a whole epoch");
    const Run run(world());
    Job part = job;
    part.loop.epochs = 1;
    train_all(part, pictures, world(), run.folder);
    CHECK(train_all(job, pictures, world(), run.folder, true).parameters() == expected);
  }
  {
    INFO("by a signal on one rank, within an epoch");
    const Run run(world());
    const Result stopped =
        tiny::interrupted(world(), [&] { return train_all(job, pictures, world(), run.folder); });
    CHECK(bool(stopped.training.interrupted_by));
    // The first synchronization is after the second step, unless gradients are summed in this epoch.
    const std::int64_t steps = strategy.find("after_epochs") == nullptr ? 2 : 1;
    CHECK(stopped.training.members[0].samples_processed == 32 * steps);
    CHECK(train_all(job, pictures, world(), run.folder, true).parameters() == expected);
  }
}

TEST_CASE("optimizer states that ranks keep belong to a number of ranks") {
  if (world().size() < 3) return;
  const tiny::Pictures pictures(kTrainingSamples);
  Job job = local_job({{"optimizer_state", "keep"}});
  const Run run(world());
  train_all(job, pictures, world(), run.folder);
  job.loop.epochs = 3;
  const mpi::Communicator fewer = world().split(world().rank() < 2 ? 0 : 1, world().rank());
  if (world().rank() < 2) {
    const std::string why = error_of([&] { train_all(job, pictures, fewer, run.folder, true); });
    CHECK_THAT(why, Contains("has the optimizer states of"));
  }
}

TEST_CASE("ranks that train on their own learn together of a loss that is not finite") {
  Job job = local_job({{"every", 3}});
  job.loop.learning_rate = 1e30;
  const std::string why = error_of([&] { trained(job, world()); });
  INFO(why);
  CHECK_THAT(why, Contains("not finite at epoch 1, step 3: first in "));
  CHECK_THAT(why, Contains("of replica 0"));
}

TEST_CASE("a batch with fewer micro-batches than ranks is refused") {
  if (world().size() == 1) return;
  Job job = local_job({{"every", 3}});
  job.engine.micro_batch = 32;
  CHECK_THAT(error_of([&] { trained(job, world()); }),
             Contains("a step of at most 32 samples has 1 micro-batch of 32"));

  job.engine.batch = 4096;  // the epoch's 150 samples are a step
  job.engine.micro_batch = 128;
  if (world().size() > 2)
    CHECK_THAT(error_of([&] { trained(job, world()); }), Contains("has 2 micro-batches"));
}

#include "convoke/train/distillation.hpp"

#include "convoke/nn/losses/loss.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/tiny.hpp"
#include "support/training.hpp"
#include "support/world.hpp"

// Soft labels, and training with them, on 1 to 4 ranks.

using namespace convoke;
using namespace convoke::train;

namespace {

run::ModelSet teacher(std::int64_t members) {
  run::ModelSet models{tiny::description(), {}, true};
  for (std::int64_t m = 0; m < members; ++m) {
    models.members.push_back({.index = m, .parameters = tiny::parameters(static_cast<std::uint64_t>(m) + 1)});
  }
  return models;
}

SoftLabels soft_labels(const tiny::Pictures& pictures, double temperature, const Job& job,
                       const mpi::Communicator& node) {
  return {teacher(3), temperature, pictures.split(),           pictures.ids(),
          job.engine, node,        "soft-labels-of-a-test.bin"};
}

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

// Trains with soft labels on all ranks of `world`.
std::vector<float> distill(const Job& job, const tiny::Pictures& pictures, const mpi::Communicator& world) {
  const tiny::Run run(world);
  const SoftLabels soft = soft_labels(pictures, job.loop.distill.temperature, job, world.split_node());
  const data::BatchLoader loader = pictures.loader().with_soft_labels(soft.values());
  return tiny::train_all(job, DataLoaders(loader), world, run.folder).parameters();
}

}  // namespace

TEST_CASE("at a tiny temperature, a soft label is the class that the teacher thinks most likely") {
  const tiny::Pictures pictures(45);
  const Job job = tiny::job();
  const mpi::Communicator node = world().split_node();
  const SoftLabels soft(teacher(1), 1e-6, pictures.split(), pictures.ids(), job.engine, node, "soft.bin");
  engine::Evaluator evaluator(tiny::graph(), {.chunk = 1});
  evaluator.load(teacher(1).members.front().parameters);
  const std::vector<float> rows = evaluator.predict(pictures.loader(), pictures.ids());
  for (std::size_t i = 0; i < 45; ++i) {
    const auto row = rows.begin() + static_cast<std::ptrdiff_t>(4 * i);
    const auto best = static_cast<std::size_t>(std::max_element(row, row + 4) - row);
    for (std::size_t k = 0; k < 4; ++k) CHECK(soft.values()[4 * i + k] == (k == best ? 1.0F : 0.0F));
  }
}

TEST_CASE("soft labels are the mean of the members' softened predictions, on any ranks and threads") {
  const mpi::Communicator self = world().split(world().rank(), 0);
  const tiny::Pictures pictures(45);
  Job job = tiny::job();
  const run::ModelSet models = teacher(3);
  for (const double temperature : {1.0, 3.0}) {
    job.engine.threads = 1;
    const std::vector<float> expected = copy(soft_labels(pictures, temperature, job, self).values());
    REQUIRE(expected.size() == 45 * 4);
    job.engine.threads = 2;
    CHECK(copy(soft_labels(pictures, temperature, job, world()).values()) == expected);

    std::vector<double> slow(expected.size());
    engine::Evaluator evaluator(tiny::graph(), {.chunk = 1});
    for (const run::Member& member : models.members) {
      evaluator.load(member.parameters);
      const std::vector<float> rows = evaluator.predict(pictures.loader(), pictures.ids());
      for (std::size_t i = 0; i < 45; ++i) {
        double total = 0;
        for (std::size_t k = 0; k < 4; ++k) {
          total += std::exp(std::log(static_cast<double>(rows[4 * i + k])) / temperature);
        }
        for (std::size_t k = 0; k < 4; ++k) {
          slow[4 * i + k] +=
              std::exp(std::log(static_cast<double>(rows[4 * i + k])) / temperature) / total / 3;
        }
      }
    }
    double worst = 0;
    for (std::size_t i = 0; i < slow.size(); ++i) {
      worst = std::max(worst, std::abs(slow[i] - static_cast<double>(expected[i])));
    }
    CHECK(worst < 1e-5);
  }
}

TEST_CASE("only samples that a member trains on have soft labels") {
  const tiny::Pictures pictures(20);
  Job job = tiny::job();
  job.samples.validation_split = 0.25;
  const data::BatchLoader loader = pictures.loader();
  const std::vector<std::uint32_t> trained = trained_samples(job, loader);
  CHECK(trained.size() == 15);
  CHECK(trained.back() == 14);
  const SoftLabels soft(teacher(1), 1, pictures.split(), trained, job.engine, world(), "soft.bin");
  for (std::size_t i = 0; i < 20; ++i) {
    const std::span<const float> row = soft.values().subspan(4 * i, 4);
    CHECK(std::accumulate(row.begin(), row.end(), 0.0) == Approx(i < 15 ? 1 : 0).margin(1e-6));
  }
}

TEST_CASE("exact training with a teacher is bit-identical on any ranks; weight 0 is training without one") {
  const mpi::Communicator self = world().split(world().rank(), 0);
  const tiny::Pictures pictures(150);
  Job job = tiny::job();
  const std::vector<float> plain = tiny::alone(job, pictures, world());
  job.loop.distill = {.teacher = "teacher.h5", .temperature = 2, .weight = 0.75};
  job.engine.loss = nn::distilled(job.model.loss, 2, 0.75);
  const std::vector<float> expected = distill(job, pictures, self);
  CHECK(expected != plain);
  CHECK(distill(job, pictures, world()) == expected);
  job.engine.loss = nn::distilled(job.model.loss, 2, 0);
  CHECK(distill(job, pictures, world()) == plain);
}

TEST_CASE("the options of a distillation are read and written back, and wrong values are refused") {
  const Settings written{{"teacher", "runs/votes"}, {"temperature", 4.0}, {"weight", 0.9}};
  CHECK(Distillation::read(written).settings() == written);
  CHECK(Distillation::read({}).settings().empty());
  CHECK(Distillation::read({{"teacher", "a"}}).temperature == 2);
  CHECK_THAT(error_of([] { Distillation::read({{"weight", 0.5}}); }), Contains("\"teacher\" is missing"));
  CHECK_THAT(error_of([] {
               Distillation::read({{"teacher", "a"}, {"temperature", 0.0}});
             }),
             Contains("\"temperature\" must be at least 1e-06"));
  CHECK_THAT(error_of([] {
               Distillation::read({{"teacher", "a"}, {"weight", 1.5}});
             }),
             Contains("\"weight\" must be at least 0 and at most 1"));
}

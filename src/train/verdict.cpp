#include "convoke/train/verdict.hpp"

#include <fmt/format.h>

#include <numeric>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/run/collective.hpp"
#include "convoke/train/records.hpp"
#include "convoke/train/reports.hpp"
#include "convoke/train/tensorboard.hpp"

namespace convoke::train {
namespace {

void write_models(const Job& job, const std::vector<const run::Member*>& voters,
                  const run::RunFolder& folder) {
  if (!job.ensemble) {
    run::write_model(folder.model(), job.model, voters.front()->parameters);
    return;
  }
  run::write_ensemble(folder.ensemble(), job.model, voters);
}

[[noreturn]] void throw_without_voters(const std::vector<TrainedMember>& members) {
  std::vector<std::string> reasons;
  for (const TrainedMember& member : members) {
    reasons.push_back(fmt::format("member {}: {}", member.model.index, member.failure));
  }
  throw Error("no member is left to vote: " + join(reasons, "; "),
              "remove the cause; then --resume continues each member from its newest checkpoint");
}

// Evaluates models that only rank 0 holds: it broadcasts them one at a time. Collective.
Evaluation evaluate_from_root(engine::Evaluator& evaluator, std::span<const run::Member* const> models,
                              const data::BatchLoader& loader, const mpi::Communicator& world,
                              std::int64_t top_k) {
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(loader.split().count()));
  std::iota(ids.begin(), ids.end(), 0U);
  std::vector<float> parameters(evaluator.parameter_values());
  const auto next = [&](std::int64_t member) -> std::span<const float> {
    if (world.root()) parameters = models[static_cast<std::size_t>(member)]->parameters;
    world.broadcast(std::as_writable_bytes(std::span(parameters)));
    return parameters;
  };
  return evaluate(evaluator, static_cast<std::int64_t>(models.size()), next, loader, ids, world, top_k);
}

}  // namespace

std::int64_t Verdict::samples_processed() const {
  return std::transform_reduce(members.begin(), members.end(), std::int64_t{0}, std::plus<>(),
                               [](const TrainedMember& member) { return member.samples_processed; });
}

Verdict convene(const Job& job, Training training, const Groups& groups, const mpi::Communicator& world,
                const data::BatchLoader& test, const run::RunFolder& folder, run::Phases& phases) {
  Verdict verdict;
  verdict.rule = job.rule;
  std::vector<const run::Member*> voters;
  {
    const os::Timed timed(phases.gather);
    verdict.members = gather(std::move(training.members), groups, world);
    for (const TrainedMember& member : verdict.members) {
      if (!member.failure.empty()) continue;
      voters.push_back(&member.model);
      verdict.voters.push_back(member.model.index);
    }
    if (voters.empty()) throw_without_voters(verdict.members);
    run::on_root(world, [&] {
      write_models(job, voters, folder);
      return std::string();
    });
  }
  const os::Timed timed(phases.evaluation);
  engine::Evaluator evaluator(job.model.graph, engine::evaluator_options(job.engine, job.model.classes()));
  verdict.test = evaluate_from_root(evaluator, voters, test, world, job.top_k);
  verdict.report = metrics::classification_report(verdict.test.rule(job.rule).all());
  run::on_root(world, [&] {
    RunLogs(job, folder).append(evaluation_record("test", verdict.test));
    if (job.log.tensorboard) append_test(job, folder, verdict);
    return std::string();
  });
  return verdict;
}

}  // namespace convoke::train

#include "convoke/train/ensemble.hpp"
#include "convoke/core/keys.hpp"
#include "convoke/core/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <optional>

#include "convoke/core/timeline.hpp"
#include "convoke/engine/gradient_verification.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/train/feature_cache.hpp"
#include "convoke/train/fit.hpp"
#include "convoke/train/member_queue.hpp"
#include "convoke/train/memory.hpp"
#include "convoke/train/soup.hpp"

namespace convoke::train {
namespace {

std::string title_of(const Job& job, std::int64_t member) {
  return job.ensemble.members == 1
             ? job.name
             : fmt::format("{} member {}/{}", job.name, member + 1, job.ensemble.members);
}

struct TrainingContext {
  const Job& job;
  const DataLoaders& loaders;
  const mpi::Communicator& group;
  const mpi::Communicator& world;
  run::StopAgreement& stop;
  const run::RunFolder& folder;
  bool resume;
  bool show;
  run::Phases& phases;
  std::span<const std::unique_ptr<FeatureCache>> features;  ///< shared by all members; may be empty
  run::StatusWriter* status;                                ///< null except on rank 0
  RunLogs* logs;                                            ///< null except on the roots of groups
};

// Runs work that fails for all members if it fails for one, such as a recipe that differs from that of the
// checkpoints.
template <class Work>
void for_all_members(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    throw JobError(error.what(), error.hint());
  }
}

// Fills in `result`. Throws what ends the training of the member, or the job.
void train_member(const TrainingContext& context, std::int64_t member, TrainedMember& result) {
  Job job = context.job;
  const data::Holdout ids = samples_of(job, context.loaders, member);
  job.engine = engine::for_samples(job.engine, std::ssize(ids.train));
  result.model.training_samples = static_cast<std::int64_t>(ids.train.size());
  const Assignment assignment{.member = member,
                              .seed = result.model.seed,
                              .training = ids.train,
                              .validation = ids.validation,
                              .validation_loader = context.loaders.validation,
                              .features = context.features,
                              .feature_file = feature_file(context.folder, context.world)};
  const std::int64_t steps = data::EpochPlan(ids.train, assignment.seed, 0, job.engine.batch, false).steps();

  metrics::Progress progress(title_of(job, member), steps * job.loop.epochs, context.show);
  std::optional<Trainer> trainer;
  {
    const Span span(Activity::kLoad);
    trainer.emplace(
        ModelContext{job, assignment, context.loaders.training, context.group,
                     Reports{progress, context.logs, title_of(job, member), context.status}, context.phases},
        context.stop, checkpoints_of(job, context.folder, member));
    if (job.weights) trainer->start_from(*job.weights);
    for_all_members([&] {
      if (context.resume) trainer->resume();
      result.steps_before = trainer->steps();
      if (context.logs == nullptr) return;
      context.logs->begin(member, context.resume ? std::optional(trainer->steps()) : std::nullopt);
    });
  }
  trainer->run(result);
}

// Returns the error that ended the training of a member if the job can go on. In a group of several ranks
// this must be an error that all of them have thrown, because otherwise the other ranks would wait.
std::string failure_of(const TrainingContext& context, const std::exception& error) {
  if (!context.job.is_ensemble || dynamic_cast<const JobError*>(&error) != nullptr) throw;
  if (dynamic_cast<const engine::SilentCorruption*>(&error) != nullptr) throw;
  const bool stops = context.job.loop.on_divergence.action == OnDivergence::Action::kStop;
  if (stops && dynamic_cast<const Divergence*>(&error) != nullptr) throw;
  if (context.group.size() > 1 && dynamic_cast<const mpi::GroupError*>(&error) == nullptr) throw;
  return mpi::as_error(std::current_exception()).what();
}

// Trains a member; if it fails, it leaves the vote and the others go on.
TrainedMember train_or_leave(const TrainingContext& context, std::int64_t member) {
  TrainedMember result;
  result.model.index = member;
  result.model.seed = member_seed(context.job.engine.seed, member);
  result.model.shard = name_of(data::kShardings, context.job.ensemble.shards);
  try {
    train_member(context, member, result);
  } catch (const std::exception& error) {
    result.failure = failure_of(context, error);
    mpi::Communicator::free_abandoned();  // all ranks of the group are here
    if (context.group.root()) {
      metrics::Progress(context.job.name, 0, context.show)
          .warn(fmt::format("member {} leaves the vote: {}", member, result.failure));
    }
  }
  return result;
}

// Frees the memory of a member's parameters before the group trains the next one.
void spill_to_file(TrainedMember& member, const mpi::Communicator& group, const run::RunFolder& folder) {
  if (member.model.parameters.empty()) return;
  for_all_members([&] {
    if (group.root()) member.store(folder.path());
  });
  member.model.parameters = std::vector<float>();
}

constexpr std::array kMemberFields{
    field<&TrainedMember::model, &run::Member::index>("member"),
    field<&TrainedMember::rank>("rank"),
    field<&TrainedMember::model, &run::Member::seed>("seed"),
    field<&TrainedMember::model, &run::Member::shard>("shard"),
    field<&TrainedMember::model, &run::Member::training_samples>("training_samples"),
    field<&TrainedMember::model, &run::Member::validation_accuracy>("validation_accuracy"),
    field<&TrainedMember::failure>("failure"),
    field<&TrainedMember::epochs_done>("epochs_done"),
    field<&TrainedMember::steps>("steps"),
    field<&TrainedMember::steps_before>("steps_before"),
    field<&TrainedMember::stopped_at>("stopped_at"),
    field<&TrainedMember::stopped_in>("stopped_in"),
    field<&TrainedMember::restores>("restores"),
    field<&TrainedMember::rate_factor>("rate_factor"),
    field<&TrainedMember::samples_processed>("samples_processed"),
};

Settings to_settings(const TrainedMember& member, int rank) {
  Settings settings = convoke::to_settings(kMemberFields, member);
  settings.set("rank", rank);
  settings.set("interrupted_by", member.interrupted_by.number());
  return settings;
}

TrainedMember member_from(const Settings& settings) {
  TrainedMember member = from_settings(kMemberFields, settings, "member");
  member.interrupted_by = run::StopReason::from(count_at(settings, "interrupted_by").value_or(0));
  return member;
}

// Appends the records that the roots of the other groups could not write; rank 0 writes. Collective.
void append_records_of_others(RunLogs* logs, const mpi::Communicator& world) {
  std::vector<Settings> kept;
  if (logs != nullptr) kept = logs->end();
  const std::vector<std::string> all = world.gather(metrics::list_to_json(std::move(kept)));
  const bool written = mpi::on_root(world, [&] {
    bool each = true;
    for (const std::string& json : all) {
      const std::vector<Settings> records = metrics::list_from_json(json);
      if (!records.empty()) each = logs->append_of_another(records) && each;
    }
    return each;
  });
  if (written && logs != nullptr) logs->remove_copy();
}

}  // namespace

run::Checkpoints checkpoints_of(const Job& job, const run::RunFolder& run, std::int64_t member) {
  const std::filesystem::path folder = job.is_ensemble ? run.checkpoints(member) : run.checkpoints();
  return {folder,
          engine::canonical_parameters(job.model.graph),
          job.fingerprint,
          job.recipe,
          job.checkpoints.keep,
          run::fallback_of(job.checkpoints.fallback, run.path(), folder)};
}

std::uint64_t require_trainable(const Job& job, const DataLoaders& loaders, const Groups& groups,
                                const mpi::Communicator& world, std::uint64_t unread) {
  require_samples(job, loaders, world);
  const nn::Graph trained = graph_in_epoch(job, job.loop.epochs);
  if (!single_value_batch_norm(trained).empty()) {
    const bool together = job.loop.strategy->sums_gradients(std::max<std::int64_t>(0, job.loop.epochs - 1));
    const bool any_group = groups.equal && groups.count < groups.members;  // each may train any member
    mpi::together(world, [&] {  // the groups may have different numbers of ranks
      for (std::int64_t member = 0; member < job.ensemble.members; ++member) {
        if (!any_group && member % groups.count != groups.mine) continue;  // another group trains it
        const auto samples = static_cast<std::int64_t>(samples_of(job, loaders, member).train.size());
        require_batch_statistics(trained, job.engine, samples, title_of(job, member),
                                 together ? 1 : groups.group.size());
      }
    });
  }
  require_soups(job, loaders);
  const data::Holdout first = samples_of(job, loaders, groups.mine);
  return require_memory(job, static_cast<std::int64_t>(first.train.size()), !first.validation.empty(),
                        groups.group, world, unread);
}

Training train_members(const Job& job, const DataLoaders& loaders, const Groups& groups,
                       const mpi::Communicator& world, const run::RunFolder& folder, bool resume, bool quiet,
                       run::Phases& phases) {
  const Timeline::Use use(*phases.timeline);
  std::optional<RunLogs> logs;
  std::optional<run::StatusWriter> status;
  mpi::on_root(world, [&] { logs.emplace(job, folder).append_copies(); });
  if (groups.group.root() && !world.root()) logs.emplace(job, folder, world.rank());
  if (world.root()) status.emplace(folder.file("status.json"), job.job_end);

  MemberQueue queue(groups, world);
  run::StopCalls calls(world, groups.group, [&] { queue.serve(); });
  run::StopAgreement stop(groups.group, job.deadline, calls);
  const std::vector<std::unique_ptr<FeatureCache>> features =
      common_features(job, loaders.training, folder, world, phases, [&] { return stop.wanted(); });
  const TrainingContext context{job,
                                loaders,
                                groups.group,
                                world,
                                stop,
                                folder,
                                resume,
                                world.root() && !quiet,
                                phases,
                                features,
                                status ? &*status : nullptr,
                                logs ? &*logs : nullptr};
  Training training;
  while (const std::optional<std::int64_t> member = queue.next()) {
    if (!training.members.empty()) spill_to_file(training.members.back(), groups.group, folder);
    training.members.push_back(train_or_leave(context, *member));
    if (training.members.back().interrupted_by) break;
  }
  phases.clock_ghz = os::measure_clock_ghz(1 << 17);  // while the core is as warm as in training
  calls.wait_for_all();
  const auto reason =
      training.members.empty() ? 0.0 : static_cast<double>(training.members.back().interrupted_by.number());
  training.interrupted_by = run::StopReason::from(std::llround(mpi::max_of(world, reason)));
  append_records_of_others(context.logs, world);
  return training;
}

std::vector<TrainedMember> list_members(const std::vector<TrainedMember>& mine, const Groups& groups,
                                        const mpi::Communicator& world) {
  std::vector<Settings> facts;
  for (const TrainedMember& member : mine) {
    if (groups.group.root()) facts.push_back(to_settings(member, world.rank()));
  }
  std::vector<Settings> all;
  for (const std::string& json : world.gather(metrics::list_to_json(std::move(facts)))) {
    for (Settings& member : metrics::list_from_json(json)) all.push_back(std::move(member));
  }
  std::vector<TrainedMember> members;
  for (const Settings& settings :
       metrics::list_from_json(world.broadcast(metrics::list_to_json(std::move(all))))) {
    members.push_back(member_from(settings));
  }
  std::sort(members.begin(), members.end(),
            [](const auto& a, const auto& b) { return a.model.index < b.model.index; });
  return members;
}

}  // namespace convoke::train

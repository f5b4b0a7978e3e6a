#include "convoke/train/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/memory.hpp"
#include "convoke/os/processors.hpp"
#include "convoke/run/environment.hpp"

namespace convoke::train {
namespace {

/// The keys of summary.json about the cost of the run, not about its models.
constexpr std::array<std::string_view, 19> kCostKeys{"ranks",
                                                     "threads",
                                                     "all_threads",
                                                     "cores",
                                                     "makespan_seconds",
                                                     "phases",
                                                     "rank_phases",
                                                     "exposed_share",
                                                     "seconds_to_first_step",
                                                     "images_per_second",
                                                     "core_seconds",
                                                     "peak_rss_mib",
                                                     "predicted_rss_mib",
                                                     "other_programs",
                                                     "straggler",
                                                     "checkpoints",
                                                     "verification",
                                                     "features",
                                                     "resumed"};

// Counted over the time that the slowest rank spends in training steps, which never exceeds the makespan.
double images_per_second(const Verdict& verdict, const Cost& cost) {
  const double seconds = cost.steps().max;
  return seconds > 0 ? static_cast<double>(verdict.samples_processed()) / seconds : 0;
}

Settings phase_settings(std::span<const run::RankTimes> ranks) {
  Settings phases;
  for (const run::Phase& phase : run::kPhases) {
    const run::Spread spread = run::spread_of(ranks, phase.seconds);
    phases.set(phase.key, Settings{{"max", spread.max}, {"mean", spread.mean}, {"min", spread.min}});
  }
  return phases;
}

Settings rank_settings(std::span<const run::RankTimes> ranks) {
  Settings phases;
  for (const run::Phase& phase : run::kPhases) {
    Value::Array seconds;
    for (const run::RankTimes& rank : ranks) seconds.emplace_back(phase.seconds(rank));
    phases.set(phase.key, std::move(seconds));
  }
  return phases;
}

Settings to_settings(const run::Straggler& straggler) {
  return {{"rank", straggler.rank},
          {"host", straggler.host},
          {"cause", straggler.cause},
          {"excess", straggler.excess},
          {"evidence", straggler.evidence}};
}

Settings to_settings(const run::CheckpointUse& checkpoints) {
  return {{"written", checkpoints.written},
          {"left_out", checkpoints.left_out},
          {"failed", checkpoints.failed},
          {"in_fallback", checkpoints.in_fallback},
          {"longest_wait", checkpoints.longest_wait},
          {"longest_writing", checkpoints.longest_writing}};
}

Settings to_settings(const run::FeatureUse& features) {
  return {{"computed", features.computed},     {"read", features.read},
          {"hit_rate", features.hit_rate()},   {"bytes", features.bytes},
          {"file_bytes", features.file_bytes}, {"seconds", features.seconds}};
}

double share_of_steps(const Cost& cost, double seconds) {
  const double steps = cost.steps().max;
  return steps > 0 ? seconds / steps : 0;
}

double mean_validation_accuracy(const Verdict& verdict) {
  double sum = 0;
  for (const TrainedMember& member : verdict.members) {
    if (member.failure.empty()) sum += member.model.validation_accuracy;
  }
  return sum / static_cast<double>(verdict.voters.size());
}

Value::Array member_facts(const Verdict& verdict) {
  Value::Array list;
  for (const TrainedMember& member : verdict.members) {
    Settings facts{{"member", member.model.index},
                   {"rank", member.rank},
                   {"seed", static_cast<std::int64_t>(member.model.seed)},
                   {"shard", member.model.shard},
                   {"training_samples", member.model.training_samples},
                   {"epochs", member.epochs_done}};
    if (!std::isnan(member.model.validation_accuracy)) {
      facts.set("validation_accuracy", member.model.validation_accuracy);
    }
    if (member.stopped_at > 0) facts.set("stopped_at_step", member.stopped_at);
    if (member.restores > 0) {
      facts.set("restores", member.restores);
      facts.set("learning_rate_factor", member.rate_factor);
    }
    if (!member.failure.empty()) facts.set("failure", member.failure);
    list.emplace_back(std::move(facts));
  }
  return list;
}

// "ensemble of 4"; for a member that was trained alone: "member 2 of an ensemble of 4".
std::string summary_title(const Job& job, const Verdict& verdict) {
  if (!job.is_ensemble) return "one synchronous model";
  if (static_cast<std::int64_t>(verdict.members.size()) == job.ensemble.members) {
    return verdict.voters.size() == verdict.members.size()
               ? fmt::format("ensemble of {}", job.ensemble.members)
               : fmt::format("ensemble of {}, {} of which vote", job.ensemble.members, verdict.voters.size());
  }
  if (verdict.members.size() == 1) {
    return fmt::format("member {} of an ensemble of {}", verdict.members.front().model.index,
                       job.ensemble.members);
  }
  return fmt::format("{} members of an ensemble of {}", verdict.members.size(), job.ensemble.members);
}

// "361,090 trainable", and with stages also how many are trained in the last one.
std::string trainable_text(const Job& job) {
  const std::int64_t first = job.model.graph.trainable_count();
  const std::int64_t last = graph_in_epoch(job, std::max<std::int64_t>(job.loop.epochs, 1)).trainable_count();
  const std::string text = format_count(first) + " trainable";
  return last == first ? text : fmt::format("{}, {} in the last stage", text, format_count(last));
}

// A row per phase, in seconds; what a step consists of also in percent of the steps.
std::string phase_text(const Cost& cost) {
  const bool several = cost.ranks > 1;
  const double steps = cost.steps().mean;
  std::string text = several ? fmt::format("    {:<26}{:>10}{:>10}{:>10}{:>11}\n", "seconds of a rank", "max",
                                           "mean", "min", "% of steps")
                             : fmt::format("    {:<26}{:>10}{:>11}\n", "", "seconds", "% of steps");
  for (const run::Phase& phase : run::kPhases) {
    const run::Spread spread = run::spread_of(cost.rank_times, phase.seconds);
    const std::string name = std::string(2 * static_cast<std::size_t>(phase.level), ' ') + phase.name;
    text += fmt::format("    {:<26}{:>10.2f}", name, spread.max);
    if (several) text += fmt::format("{:>10.2f}{:>10.2f}", spread.mean, spread.min);
    if (phase.level > 0 && steps > 0) text += fmt::format("{:>11.1f}", 100 * spread.mean / steps);
    text += "\n";
  }
  if (const auto& slow = cost.straggler) {
    text += fmt::format("  straggler     rank {} on {}", slow->rank, slow->host);
    if (slow->cause != "network") {
      text +=
          fmt::format(" computes longer than the median rank, by {:.0f} % of the steps", 100 * slow->excess);
    }
    text += fmt::format("\n                {}: {}\n", slow->cause, slow->evidence);
  }
  return text;
}

// The ranks of a group verify together, so the largest count is that of one group.
engine::VerificationUse largest_of_ranks(const engine::VerificationUse& mine,
                                         const mpi::Communicator& world) {
  double most[] = {static_cast<double>(mine.micro_batches), mine.seconds};
  world.max(most);
  return {std::llround(most[0]), most[1]};
}

// Workers of one model wait for one that lost its core, unless they take its micro-batches (run.balance).
bool waits_for_slow_workers(const Job& job, const Verdict& verdict, const Cost& cost) {
  const bool shares_steps =
      cost.all_threads > std::ssize(verdict.members) && job.loop.strategy->sums_gradients(0);
  return shares_steps && !job.engine.balance && job.engine.reduction != engine::Reduction::kExact;
}

}  // namespace

bool was_finished(const Settings& earlier, const Verdict& verdict) {
  const auto same = [](const Settings& then, const TrainedMember& now) {
    return count_at(then, "member") == now.model.index && count_at(then, "epochs") == now.epochs_done;
  };
  return verdict.samples_processed() == 0 &&
         std::ranges::equal(tables_at(earlier, "member_facts"), verdict.members, same);
}

Settings with_cost_of(const Settings& earlier, const Settings& summary) {
  const auto is_cost = [](const std::string& key) {
    return std::ranges::find(kCostKeys, key) != kCostKeys.end();
  };
  Settings result;
  for (const auto& [key, value] : summary.entries()) {
    const Value* kept = is_cost(key) ? earlier.find(key) : &value;
    if (kept != nullptr) result.set(key, *kept);
  }
  for (const auto& [key, value] : earlier.entries()) {
    if (is_cost(key)) result.set(key, value);
  }
  return result;
}

void add_member_facts(const Settings& summary, TrainedMember& member) {
  member.epochs_done = count_at(summary, "epochs").value_or(0);
  for (const Settings& facts : tables_at(summary, "member_facts")) {
    if (count_at(facts, "member") != member.model.index) continue;
    member.epochs_done = count_at(facts, "epochs").value_or(member.epochs_done);
    member.stopped_at = count_at(facts, "stopped_at_step").value_or(0);
    member.restores = count_at(facts, "restores").value_or(0);
    if (member.restores > 0) member.rate_factor = number_at(facts, "learning_rate_factor");
  }
}

Cost cost_of(double makespan_seconds, const run::Machine& machine, int threads, const run::Phases& phases,
             const run::OtherPrograms& others, const mpi::Communicator& world,
             std::uint64_t predicted_bytes) {
  double largest[] = {makespan_seconds, static_cast<double>(machine.threads_for(threads)),
                      static_cast<double>(os::peak_resident_bytes()), static_cast<double>(predicted_bytes)};
  world.max(largest);
  std::vector<run::RankTimes> times = mpi::all_gather(world, run::times_of(phases));
  std::optional<run::Straggler> straggler = run::diagnose(times, machine, world);
  return {
      .ranks = world.size(),
      .threads = static_cast<int>(largest[1]),
      .all_threads = machine.all_threads(threads),
      .cores = machine.cores_of_all(threads),
      .placement = run::placement_text(machine),
      .makespan_seconds = largest[0],
      .rank_times = std::move(times),
      .straggler = std::move(straggler),
      .features = run::sum_over_ranks(phases.features, phases.timeline->seconds(Activity::kFeatures), world),
      .checkpoints = run::sum_over_ranks(phases.checkpoints, world),
      .verification = largest_of_ranks(phases.verification, world),
      .other_programs = others.share(machine.cores_of_all(threads), world),
      .peak_resident_bytes = static_cast<std::uint64_t>(largest[2]),
      .predicted_bytes = static_cast<std::uint64_t>(largest[3])};
}

Settings summary(const Job& job, const Verdict& verdict, const Cost& cost) {
  Settings result{{"format", metrics::kFileFormat},
                  {"name", job.name},
                  {"mode", job.is_ensemble ? "ensemble" : "sync"},
                  {"reduction", job.engine.reduction == engine::Reduction::kExact ? "exact" : "fast"},
                  {"seed", static_cast<std::int64_t>(job.engine.seed)},
                  {"ranks", cost.ranks},
                  {"threads", cost.threads},
                  {"all_threads", cost.all_threads},
                  {"cores", cost.cores},
                  {"members", static_cast<std::int64_t>(verdict.members.size())},
                  {"epochs", job.loop.epochs},
                  {"batch", job.engine.batch},
                  {"micro_batch", job.engine.micro_batch},
                  {"parameters", job.model.graph.trainable_count()},
                  {"makespan_seconds", cost.makespan_seconds},
                  {"phases", phase_settings(cost.rank_times)},
                  {"exposed_share", run::exposed_share(cost.rank_times)},
                  {"seconds_to_first_step", run::spread_of(cost.rank_times, &run::RankTimes::first_step).max},
                  {"images_per_second", images_per_second(verdict, cost)},
                  {"core_seconds", cost.core_seconds()},
                  {"peak_rss_mib", static_cast<double>(cost.peak_resident_bytes) / (1024.0 * 1024.0)},
                  {"predicted_rss_mib", static_cast<double>(cost.predicted_bytes) / (1024.0 * 1024.0)},
                  {"test", evaluation_summary(verdict.test, verdict.rule, verdict.voters)},
                  {"member_facts", member_facts(verdict)}};
  result.set("rank_phases", rank_settings(cost.rank_times));
  if (verdict.resumed()) result.set("resumed", true);
  if (!std::isnan(cost.other_programs)) result.set("other_programs", cost.other_programs);
  if (cost.straggler) result.set("straggler", to_settings(*cost.straggler));
  result.set("checkpoints", to_settings(cost.checkpoints));
  if (cost.verification.micro_batches > 0) {
    result.set("verification", Settings{{"micro_batches", cost.verification.micro_batches},
                                        {"seconds", cost.verification.seconds},
                                        {"share_of_steps", share_of_steps(cost, cost.verification.seconds)}});
  }
  if (cost.features.any()) result.set("features", to_settings(cost.features));
  const double validation = mean_validation_accuracy(verdict);
  if (!std::isnan(validation)) result.set("validation_accuracy", validation);
  return result;
}

std::string summary_text(const Job& job, const Verdict& verdict, const Cost& cost) {
  std::string text = fmt::format("{}: {}, {} x {}, reduction {}\n", job.name, summary_title(job, verdict),
                                 counted(cost.ranks, "rank"), counted(cost.threads, "thread"),
                                 job.engine.reduction == engine::Reduction::kExact ? "exact" : "fast");
  text += fmt::format("  makespan      {:.2f} s{}\n", cost.makespan_seconds,
                      verdict.resumed() ? " since the run was resumed" : "") +
          phase_text(cost);
  const run::Spread steps = cost.steps();
  text += fmt::format(
      "  training      {} images/s: {} images in {:.2f} s{}\n",
      format_count(std::llround(images_per_second(verdict, cost))), format_count(verdict.samples_processed()),
      steps.max,
      cost.ranks == 1 ? "" : fmt::format(" of the slowest rank (the fastest: {:.2f} s)", steps.min));
  text += fmt::format("  cost          {:.1f} core-seconds{}, peak memory {} per rank\n", cost.core_seconds(),
                      cost.oversubscribed() ? fmt::format(" (OVERSUBSCRIBED: {} threads on {})",
                                                          cost.all_threads, counted(cost.cores, "core"))
                                            : std::string(),
                      format_bytes(cost.peak_resident_bytes));
  if (!cost.placement.empty()) text += fmt::format("  placement     {}\n", cost.placement);
  if (const std::string model = os::cpu_model(); !model.empty())
    text += fmt::format("  processor     {}; build {}\n", model, run::build_type());
  if (cost.other_programs >= os::kNotableUse) {
    text += fmt::format(
        "  contended     other programs took {:.0f} % of these cores; the run is faster without them{}\n",
        100 * cost.other_programs,
        waits_for_slow_workers(job, verdict, cost)
            ? ",\n                or next to them with run.balance=true"
            : "");
  }
  if (const run::CheckpointUse& use = cost.checkpoints; use.written + use.left_out > 0) {
    text += fmt::format(
        "  checkpoints   {} written{}; training waited at most {:.1f} ms for one, writing took at most "
        "{:.0f} ms\n",
        use.written, use.left_out > 0 ? fmt::format(", {} left out", use.left_out) : std::string(),
        1e3 * use.longest_wait, 1e3 * use.longest_writing);
  }
  if (const run::CheckpointUse& use = cost.checkpoints; use.failed > 0) {
    text += fmt::format("                {} could not be written into the run folder",
                        counted(use.failed, "checkpoint"));
    if (use.in_fallback > 0)
      text += fmt::format("; {} went to {}", use.in_fallback, job.checkpoints.fallback);
    text += "\n";
  }
  if (const engine::VerificationUse& use = cost.verification; use.micro_batches > 0) {
    text += fmt::format(
        "  verified      {} computed again without a difference, in {:.2f} s ({:.1f} % of the steps)\n",
        counted(use.micro_batches, "micro-batch"), use.seconds, 100 * share_of_steps(cost, use.seconds));
  }
  if (const run::FeatureUse& features = cost.features; features.any()) {
    text += fmt::format("  features      {} samples computed in {:.2f} s, {} in {}; hit rate {:.1f} %\n",
                        format_count(features.computed), features.seconds,
                        format_bytes(static_cast<std::uint64_t>(features.bytes)),
                        features.file_bytes > 0 ? "a file" : "memory", 100 * features.hit_rate());
  }
  text += fmt::format("  parameters    {}\n", trainable_text(job));
  const double validation = mean_validation_accuracy(verdict);
  if (!std::isnan(validation)) text += fmt::format("  validation    accuracy {:.4f}\n", validation);
  bool failed = false;
  for (const TrainedMember& member : verdict.members) {
    const std::string who = job.is_ensemble ? fmt::format("member {} ", member.model.index) : "";
    if (member.stopped_at > 0) {
      text += fmt::format("  {}stopped early after {} steps, in epoch {}\n", who,
                          format_count(member.stopped_at), member.stopped_in);
    }
    if (member.restores > 0) {
      text += fmt::format(
          "  {}diverged and went back to a checkpoint {}; its learning rate is {:g} times as high\n", who,
          counted(member.restores, "time"), member.rate_factor);
    }
    if (!member.failure.empty()) {
      text += fmt::format("  member {} left the vote: {}\n", member.model.index, member.failure);
      failed = true;
    }
  }
  if (failed)
    text +=
        "  (remove the cause; then --resume continues the training of these members, and all vote again)\n";
  text += fmt::format("test, {} images{}\n", format_count(verdict.test.samples),
                      job.is_ensemble ? fmt::format(", {} vote", verdict.rule) : std::string());
  return text + evaluation_text(verdict.test, verdict.rule, verdict.voters, job.model.class_names);
}

}  // namespace convoke::train

#include "convoke/train/checkpointing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/run/engine_state.hpp"

namespace convoke::train {
namespace {

using namespace std::chrono_literals;

// A disk that needs longer is not waited for: the next checkpoint is only some steps away.
constexpr auto kPatience = 2000ms;

}  // namespace

Checkpointing::Checkpointing(const Job& job, StagedEngine& engine, const mpi::Communicator& group,
                             run::Checkpoints checkpoints, const Reports& reports, run::Phases& phases)
    : job_(job),
      engine_(engine),
      group_(group),
      checkpoints_(std::move(checkpoints)),
      reports_(reports),
      phases_(phases) {
  if (group_.root()) checkpoints_.make_folder();
}

Checkpointing::~Checkpointing() {
  writer_.wait();
  phases_.checkpoints.longest_writing =
      std::max(phases_.checkpoints.longest_writing, writer_.longest_seconds());
}

Checkpointing::Position Checkpointing::position_of(const run::CheckpointState& state) {
  return {state.epochs_done, state.steps_done};
}

void Checkpointing::after_step(const run::CheckpointState& state) {
  const run::CheckpointInterval& every = job_.checkpoint_every;
  const bool steps = every.steps > 0 && state.updates - saved_updates_ >= every.steps;
  const bool seconds = every.seconds > 0 && since_saved_.seconds() >= every.seconds;
  if (steps || seconds) save(state);
}

void Checkpointing::after_epoch(const run::CheckpointState& state) {
  const std::int64_t epochs = job_.checkpoint_every.epochs;
  if (epochs > 0 && state.epochs_done % epochs == 0) {
    save(state);
  } else {
    after_step(state);
  }
}

void Checkpointing::save(const run::CheckpointState& state) {
  if (!group_.root()) return;
  const run::Stopwatch watch;
  report_failures();
  run::CheckpointUse& use = phases_.checkpoints;
  if (writer_.ready(kPatience)) {
    run::CheckpointState copy = state;
    engine_.capture(copy);
    writer_.give([this, copy = std::move(copy)] { checkpoints_.save(copy); });
    saved_ = position_of(state);
    ++use.written;
    use.longest_wait = std::max(use.longest_wait, watch.seconds());
  } else {
    reports_.progress.warn(fmt::format(
        "the checkpoint after step {} is left out: the one before is still being written", state.updates));
    ++use.left_out;
  }
  saved_updates_ = state.updates;
  since_saved_ = {};
  phases_.checkpoint += watch.seconds();
}

void Checkpointing::keep_best(const std::vector<float>& parameters) {
  if (job_.keep_best == 0 || !group_.root()) return;
  const run::Timed timed(phases_.checkpoint);
  best_ = std::make_shared<Best>();
  best_->parameters = parameters;
  write_best();
}

void Checkpointing::write_best() {
  writer_.give([this, best = best_] {
    checkpoints_.save_best(job_.model, best->parameters, job_.keep_best);
    best->written = true;
  });
  ++phases_.checkpoints.written;
}

void Checkpointing::finish(const run::CheckpointState& state, bool needed) {
  if (!group_.root()) return;
  const run::Timed timed(phases_.checkpoint);
  writer_.wait();
  report_failures();
  writer_.wait();
  if (saved_ == position_of(state)) return;
  save(state);
  writer_.wait();
  const std::vector<std::string> failed = failures();
  if (failed.empty()) return;
  if (needed) {
    throw Error(failed.front(), fmt::format("free some space; what was kept before in {} is as it was",
                                            checkpoints_.folder().string()));
  }
  reports_.progress.warn(failed.front());
}

std::vector<std::string> Checkpointing::failures() {
  std::vector<std::string> failed = writer_.failures();
  phases_.checkpoints.written -= std::ssize(failed);
  phases_.checkpoints.left_out += std::ssize(failed);
  return failed;
}

// Also makes up for what has failed: the best model at once, the state by the next checkpoint, or the last.
void Checkpointing::report_failures() {
  const std::vector<std::string> failed = failures();
  for (const std::string& failure : failed) {
    reports_.progress.warn(failure + "; training goes on, earlier checkpoints are as they were");
    saved_ = {};
  }
  if (!failed.empty() && best_ && !best_->written) write_best();
}

std::optional<run::CheckpointState> Checkpointing::resume() {
  std::optional<run::CheckpointState> newest =
      run::newest_for_all(checkpoints_, group_, [&](const auto& why) { reports_.progress.warn(why); });
  if (!newest) return std::nullopt;
  engine_.restore(*newest);
  saved_ = position_of(*newest);
  saved_updates_ = newest->updates;
  reports_.progress.note(
      fmt::format("resumed after {} epochs and {} steps", newest->epochs_done, newest->steps_done));
  return newest;
}

}  // namespace convoke::train

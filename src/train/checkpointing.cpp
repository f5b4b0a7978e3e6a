#include "convoke/train/checkpointing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <utility>

#include "convoke/core/finite.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/mpi/together.hpp"

namespace convoke::train {
namespace {

using namespace std::chrono_literals;

// Training does not wait for a disk that needs longer: the next checkpoint is only some steps away.
constexpr auto kPatience = 2000ms;

run::BestModels::Cost cost_by(const EarlyStopping& rule) {
  return [&rule](const run::Validated& v) { return rule.cost(v.loss, v.accuracy); };
}

// Returns the newest usable checkpoint, which the root reads, on all ranks. Collective. All ranks throw as
// run::Checkpoints::newest() does.
std::optional<run::CheckpointState> newest_for_all(const run::Checkpoints& checkpoints,
                                                   const mpi::Communicator& group,
                                                   const run::Checkpoints::Note& note) {
  if (group.size() == 1) return checkpoints.newest(note);
  const std::string bytes = mpi::on_root(group, [&] { return checkpoints.newest_bytes(note); });
  if (bytes.empty()) return std::nullopt;
  return mpi::together(group, [&] { return checkpoints.from_bytes(bytes); });
}

}  // namespace

void CheckpointStorage::save(const run::CheckpointState& state) {
  std::string failure;
  try {
    checkpoints_.save(state);
    return note(State::kWorks,
                fmt::format("checkpoints can be written into {} again", checkpoints_.folder().string()));
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (checkpoints_.fallback().empty())
    return note(State::kLost, failure + "; training goes on, earlier checkpoints are unchanged");
  try {
    checkpoints_.save_in_fallback(state);
    note(State::kInFallback, fmt::format("{}; training goes on, and checkpoints go to {}", failure,
                                         checkpoints_.fallback().string()));
  } catch (const std::exception& error) {
    note(State::kLost,
         fmt::format("{}; {}; training goes on, earlier checkpoints are unchanged", failure, error.what()));
  }
}

void CheckpointStorage::note(State state, std::string message) {
  const std::lock_guard lock(mutex_);
  if (state != State::kWorks) {
    ++counts_.failed;
    failure_ = message;
  }
  if (state == State::kInFallback) ++counts_.in_fallback;
  if (std::exchange(state_, state) != state) news_ = std::move(message);
}

CheckpointStorage::Counts CheckpointStorage::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string CheckpointStorage::why_lost() const {
  const std::lock_guard lock(mutex_);
  return state_ == State::kLost ? failure_ : std::string();
}

std::optional<std::string> CheckpointStorage::news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, std::nullopt);
}

Checkpointing::Checkpointing(const ModelContext& context, StagedEngine& engine, run::Checkpoints checkpoints)
    : context_(context),
      engine_(engine),
      storage_(std::move(checkpoints)),
      best_models_(storage_.checkpoints().folder(), context.job.checkpoints.keep_best,
                   cost_by(context.job.loop.early_stopping)) {
  mpi::together(context_.group, [&] {
    if (context_.group.root()) storage_.checkpoints().make_folder();
  });
}

Checkpointing::~Checkpointing() {
  writer_.wait();
  count_lost();
  context_.phases.checkpoints.longest_writing =
      std::max(context_.phases.checkpoints.longest_writing, writer_.longest_seconds());
}

Checkpointing::Position Checkpointing::position_of(const run::CheckpointState& state) {
  return {state.epochs_done, state.steps_done};
}

void Checkpointing::after_step(const run::CheckpointState& state) {
  const run::CheckpointInterval& every = context_.job.checkpoints.every;
  const bool steps = every.steps > 0 && state.updates - saved_updates_ >= every.steps;
  const bool seconds = every.seconds > 0 && since_saved_.seconds() >= every.seconds;
  if (as_root(steps || seconds)) save(state);
}

void Checkpointing::after_epoch(const run::CheckpointState& state) {
  const std::int64_t epochs = context_.job.checkpoints.every.epochs;
  if (epochs > 0 && state.epochs_done % epochs == 0) {
    save(state);
  } else {
    after_step(state);
  }
}

// The root decides. The others need to know only if they have a part in the checkpoint.
bool Checkpointing::as_root(bool wanted) const {
  return engine_.keeps_states() ? mpi::any_of(context_.group, context_.group.root() && wanted) : wanted;
}

void Checkpointing::save(const run::CheckpointState& state) {
  std::vector<std::vector<float>> others = engine_.gather_states();
  if (!context_.group.root()) return;
  Span span(Activity::kCheckpoint);
  refused_ = !engine_.first_bad_parameter().empty() ||
             !std::ranges::all_of(others, [](const auto& values) { return all_finite(values); });
  if (refused_) {  // the trainer ends, or goes back
    saved_updates_ = state.updates;
    since_saved_ = {};
    return;
  }
  report_failures();
  run::CheckpointUse& use = context_.phases.checkpoints;
  std::string left_out;
  if (!writer_.ready(kPatience)) {
    left_out = "the previous one is still being written";
  } else {
    note_written();  // frees the best model, if it was the previous work
    try {
      run::CheckpointState copy = state;
      engine_.capture(copy);
      copy.other_optimizers = std::move(others);
      writer_.give([this, copy = std::move(copy)] { storage_.save(copy); });
      saved_ = position_of(state);
      ++use.written;
    } catch (const std::bad_alloc&) {
      left_out = "there is no memory for a copy of the state";
    }
  }
  if (!left_out.empty()) {
    context_.reports.progress.warn(
        fmt::format("the checkpoint after step {} is skipped: {}", state.updates, left_out));
    ++use.left_out;
  }
  saved_updates_ = state.updates;
  since_saved_ = {};
  const double seconds = span.close();
  if (left_out.empty()) use.longest_wait = std::max(use.longest_wait, seconds);
}

void Checkpointing::keep_best(const std::vector<float>& parameters, const run::Validated& validated,
                              std::int64_t epoch) {
  const double cost = context_.job.loop.early_stopping.cost(validated.loss, validated.accuracy);
  if (context_.job.checkpoints.keep_best == 0 || !context_.group.root() || std::isinf(cost)) return;
  const Span span(Activity::kCheckpoint);
  try {
    give_best(parameters, validated, epoch);
  } catch (const std::exception& error) {
    context_.reports.progress.warn(fmt::format("the model after step {} is not kept as one of the best: {}",
                                               validated.step, error.what()));
    ++context_.phases.checkpoints.left_out;
  }
}

void Checkpointing::give_best(const std::vector<float>& parameters, const run::Validated& validated,
                              std::int64_t epoch) {
  const auto cost = cost_by(context_.job.loop.early_stopping);
  note_written();
  // Most validations are worse than the written models: they need not wait for the writer to read the files.
  if (std::ssize(written_costs_) == context_.job.checkpoints.keep_best &&
      written_costs_.back() <= cost(validated))
    return;
  writer_.wait();
  note_written();
  if (!best_models_.admits(validated)) return;
  const auto best = std::make_shared<Best>();
  best->validated = validated;
  best->epoch = epoch;
  best->parameters = parameters;
  unwritten_.push_back(best);
  write(best);
  if (std::ssize(unwritten_) <= context_.job.checkpoints.keep_best) return;
  // If the disk stays full, the worst model is dropped: it is not among the best even if all others are
  // written.
  unwritten_.erase(std::max_element(unwritten_.begin(), unwritten_.end(), [&](const auto& a, const auto& b) {
    return cost(a->validated) < cost(b->validated);
  }));
}

void Checkpointing::note_written() {
  const auto cost = cost_by(context_.job.loop.early_stopping);
  std::erase_if(unwritten_, [&](const auto& best) {
    if (!best->written) return false;
    told_ = false;
    written_costs_.push_back(cost(best->validated));
    return true;
  });
  std::sort(written_costs_.begin(), written_costs_.end());
  if (std::ssize(written_costs_) > context_.job.checkpoints.keep_best) {
    written_costs_.resize(static_cast<std::size_t>(context_.job.checkpoints.keep_best));
  }
}

void Checkpointing::write(const std::shared_ptr<Best>& best) {
  writer_.give([this, best] {
    run::ModelDescription model = context_.job.model;
    model.graph = graph_in_epoch(context_.job, best->epoch);
    best_models_.keep(model, best->parameters, best->validated);
    best->written = true;
  });
  ++context_.phases.checkpoints.written;
}

void Checkpointing::finish(const run::CheckpointState& state, bool needed) {
  const Span span(Activity::kCheckpoint);
  writer_.wait();
  report_failures();
  writer_.wait();
  if (!as_root(saved_ != position_of(state))) return;
  save(state);
  if (!context_.group.root()) return;
  writer_.wait();
  const bool copied = saved_ == position_of(state);
  const std::string lost = copied ? storage_.why_lost() : "the last checkpoint could not be copied";
  if (needed && !lost.empty()) {
    throw JobError(lost, fmt::format("free some disk space; earlier checkpoints in {} are unchanged",
                                     storage_.checkpoints().folder().string()));
  }
  report_failures();
}

void Checkpointing::count_lost() {
  run::CheckpointUse& use = context_.phases.checkpoints;
  const CheckpointStorage::Counts now = storage_.counts();
  use.failed += now.failed - counted_.failed;
  use.in_fallback += now.in_fallback - counted_.in_fallback;
  use.written -= now.lost() - counted_.lost();
  use.left_out += now.lost() - counted_.lost();
  counted_ = now;
}

// Repeats failed writes too: the best models at once, the state with the next or the last checkpoint.
void Checkpointing::report_failures() {
  count_lost();
  if (const std::optional<std::string> news = storage_.news()) context_.reports.progress.warn(*news);
  if (!storage_.why_lost().empty()) saved_ = {};
  const std::vector<std::string> failed = writer_.failures();  // of best models, which count as left out
  context_.phases.checkpoints.written -= std::ssize(failed);
  context_.phases.checkpoints.left_out += std::ssize(failed);
  if (failed.empty()) return;
  if (!std::exchange(told_, true))
    context_.reports.progress.warn(failed.front() + "; training goes on, earlier checkpoints are unchanged");
  for (const auto& best : unwritten_) {
    if (!best->written) write(best);
  }
}

std::filesystem::path Checkpointing::newest_file() {
  writer_.wait();
  return storage_.checkpoints().newest_file();
}

std::optional<run::CheckpointState> Checkpointing::go_back() {
  writer_.wait();
  refused_ = false;
  unwritten_.clear();
  written_costs_.clear();
  saved_ = {};
  saved_updates_ = 0;
  return resume();
}

std::optional<run::CheckpointState> Checkpointing::resume() {
  std::optional<run::CheckpointState> newest = newest_for_all(
      storage_.checkpoints(), context_.group, [&](const auto& why) { context_.reports.progress.warn(why); });
  mpi::on_root(context_.group, [&] { best_models_.go_back_to(newest ? newest->updates : 0); });
  if (!newest) return std::nullopt;
  engine_.restore(*newest);
  saved_ = position_of(*newest);
  saved_updates_ = newest->updates;
  context_.reports.progress.note(
      fmt::format("resumed after {} epochs and {} steps", newest->epochs_done, newest->steps_done));
  return newest;
}

}  // namespace convoke::train

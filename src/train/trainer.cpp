#include "convoke/train/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/timeline.hpp"
#include "convoke/mpi/together.hpp"

namespace convoke::train {
namespace {

constexpr const char* kSteadier =
    "lower the learning rate, add a warm-up (train.schedule.warmup_epochs), set train.on_divergence = "
    "\"restore\", or inspect the data";
constexpr const char* kSmaller =
    "scale the inputs (data.normalize = \"standard\") or the targets, lower the learning rate, or set "
    "train.reduction = \"fast\"";

}  // namespace

std::span<const float> TrainedMember::parameters() const {
  if (stored == nullptr) return model.parameters;
  const std::span<const std::byte> bytes = stored->bytes();
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

void TrainedMember::store(const std::filesystem::path& folder) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(model.parameters));
  os::File file = os::File::unnamed(folder);
  file.write_at(0, bytes);
  stored = std::make_shared<const os::MappedPart>(file, 0, bytes.size());
  model.parameters = std::vector<float>();  // frees the memory, which = {} would keep
}

Trainer::Trainer(ModelContext context, run::StopAgreement& stop, run::Checkpoints checkpoints)
    : context_(std::move(context)),
      stop_(stop),
      engine_(context_),
      checkpointing_(context_, engine_, std::move(checkpoints)),
      validation_(context_, engine_, checkpointing_) {}

void Trainer::run(TrainedMember& result) {
  for (;;) {
    try {
      return train(result);
    } catch (const Divergence& divergence) {
      go_back(divergence);
    }
  }
}

// Call it in the handler of the divergence, which it throws again if training cannot go back. All ranks of
// the group have thrown it, so this is collective.
void Trainer::go_back(const Divergence& divergence) {
  const OnDivergence& rule = context_.job.loop.on_divergence;
  if (rule.action != OnDivergence::Action::kRestore || state_.restores >= rule.times) throw;
  // A lower rate changes nothing if there was no update.
  if (mpi::any_of(context_.group, engine_.replica().engine().steps_done() == 0)) throw;
  // A checkpoint may be older than the last restore, so the factor is that of the state that diverged.
  const double factor = state_.feedback.factor * rule.factor;
  const std::int64_t restores = state_.restores + 1;
  std::optional<run::CheckpointState> newest = checkpointing_.go_back();
  validation_.go_back();
  if (!newest) {
    engine_.restart();
    if (context_.job.weights) start_from(*context_.job.weights);
  }
  state_ = newest ? std::move(*newest) : run::CheckpointState();
  state_.feedback.factor = factor;
  state_.restores = restores;
  if (context_.group.root()) context_.reports.restored(context_.assignment.member, state_, divergence.what());
}

void Trainer::train(TrainedMember& result) {
  run::StopReason interrupted;
  while (!interrupted && !state_.best.stopped && state_.epochs_done < context_.job.loop.epochs) {
    interrupted = train_epoch();
    if (!interrupted && !state_.best.stopped) checkpointing_.after_epoch(state_);
  }
  checkpointing_.finish(state_, bool(interrupted));
  result.model.parameters = validation_.kept(engine_.result(), state_);
  result.model.validation_accuracy = state_.validation_accuracy;
  result.interrupted_by = interrupted;
  result.epochs_done = state_.epochs_done;
  result.steps = state_.updates;
  result.stopped_at = state_.best.stopped ? state_.updates : 0;
  result.stopped_in = state_.best.stopped ? state_.epochs_done + (state_.steps_done > 0 ? 1 : 0) : 0;
  result.samples_processed = samples_processed_;
  result.restores = state_.restores;
  result.rate_factor = state_.feedback.factor;
}

// The order of samples is a pure function of seed and epoch, so an interrupted epoch continues with its next
// step.
run::StopReason Trainer::train_epoch() {
  const data::EpochPlan plan = mpi::together(context_.group, [&] {
    return plan_epoch(context_.job, context_.assignment, context_.loader, state_.epochs_done);
  });
  steps_per_epoch_ = plan.steps();
  if (!engine_.begin_epoch(state_.epochs_done, [this] { return stop_.wanted(); })) return stop_.agree();
  stop_.begin_epoch();
  std::optional<data::ReadAhead> ahead;
  read_ahead(plan, ahead);
  if (context_.phases.first_step == 0) context_.phases.first_step = context_.phases.since_start.seconds();
  const std::int64_t samples_before = samples_processed_;
  engine::MicroBatchShares shares = engine_.replica().shares();
  double seconds = 0;
  run::StopReason reason;
  while (state_.steps_done < plan.steps()) {
    seconds += take_step(plan.step(state_.steps_done), plan.repeats(state_.steps_done));
    if (ahead) ahead->step_done();
    if (engine_.replica().shares() != shares) {
      shares = engine_.replica().shares();
      shares_changed(plan, ahead);
    }
    show(static_cast<double>(samples_processed_ - samples_before) / seconds);
    if (engine_.replica().sums().steps > 0) continue;  // the models of ranks differ
    if (validation_.due(state_.updates)) {
      require_finite();
      validation_.at_step(engine_.result(), state_);
    }
    reason = stop_.after_step(checkpointing_.refused());
    if (reason || stop_.alarmed()) require_finite();
    const bool last = state_.steps_done == plan.steps();
    if (last && state_.best.stopped) break;  // a resumed run would not come back to finish the epoch
    if (reason || state_.best.stopped) return reason;
    if (!last) checkpointing_.after_step(state_);
  }
  finish_epoch(seconds, samples_processed_ - samples_before);
  return reason;
}

// Only streamed samples are read ahead, and only if no features replace them.
void Trainer::read_ahead(const data::EpochPlan& plan, std::optional<data::ReadAhead>& ahead) {
  data::SampleStream* const stream = context_.loader.split().stream.get();
  if (stream == nullptr || engine_.features() != nullptr || state_.steps_done == plan.steps()) return;
  mpi::together(context_.group, [&] {
    ahead.emplace(*stream, plan, state_.steps_done,
                  [shares = engine_.replica().shares(), micro_batch = context_.job.engine.micro_batch,
                   rank = context_.group.rank()](std::int64_t samples) {
                    return shares.samples(samples, micro_batch, rank);
                  });
  });
}

// What has been read ahead are the samples of the old shares.
void Trainer::shares_changed(const data::EpochPlan& plan, std::optional<data::ReadAhead>& ahead) {
  ahead.reset();
  read_ahead(plan, ahead);
  const std::int64_t micro_batches = context_.job.engine.batch / context_.job.engine.micro_batch;
  std::int64_t least = micro_batches, most = 0;
  for (int rank = 0; rank < context_.group.size(); ++rank) {
    const std::int64_t count = engine_.replica().shares().micro_batches(micro_batches, rank).count;
    least = std::min(least, count);
    most = std::max(most, count);
  }
  context_.reports.progress.note(
      fmt::format("the micro-batches of a step follow the speed of the ranks: each now gets {} to {} of {}",
                  least, most, micro_batches));
}

// Between two synchronizations a rank knows only its own share of the samples.
void Trainer::show(double images_per_second) {
  const engine::Replica::StepSums& since = engine_.replica().sums();
  const auto size = static_cast<std::int64_t>(context_.assignment.training.size());
  const std::int64_t synchronized =
      std::min((state_.steps_done - since.steps) * context_.job.engine.batch, size);
  const auto seen = static_cast<double>(std::max<std::int64_t>(1, synchronized + since.samples));
  context_.reports.step_done(state_.updates, steps_per_epoch_ * context_.job.loop.epochs,
                             {.epoch = state_.epochs_done + 1,
                              .epochs = context_.job.loop.epochs,
                              .loss = (state_.loss_sum + since.loss) / seen,
                              .accuracy = (state_.correct_sum + since.correct) / seen,
                              .images_per_second = images_per_second});
}

double Trainer::take_step(std::span<const std::uint32_t> ids, std::span<const std::uint32_t> repeats) {
  Span span(Activity::kStep, nullptr, state_.updates);
  engine_.step(static_cast<std::uint32_t>(state_.epochs_done), ids, rate_of(state_.updates), repeats);
  samples_processed_ += static_cast<std::int64_t>(ids.size());
  ++state_.steps_done;
  ++state_.updates;
  if (must_synchronize()) synchronize();
  return span.close();
}

// The numbers of a validation, and what is stored, belong to one model.
bool Trainer::must_synchronize() const {
  return state_.steps_done == steps_per_epoch_ || validation_.due(state_.updates) ||
         engine_.replica().synchronizes_after(state_.epochs_done, state_.steps_done);
}

void Trainer::synchronize() {
  const engine::Replica::StepSums sums = engine_.replica().synchronize();
  if (!std::isfinite(sums.loss)) diverged();
  state_.loss_sum += sums.loss;
  state_.correct_sum += sums.correct;
  log_step(sums);
}

// With local SGD a step is logged when the ranks synchronize after it, with the steps since they last did.
// All this follows from the number of the step, so a resumed run writes the lines of an uninterrupted one.
void Trainer::log_step(const engine::Replica::StepSums& sums) {
  const std::int64_t every = context_.job.log.every_steps;
  if (every == 0 || context_.reports.logs == nullptr) return;
  if (state_.updates / every == (state_.updates - sums.steps) / every) return;
  const auto samples = static_cast<double>(sums.samples);
  context_.reports.logs->append(step_record(context_.assignment.member, state_.epochs_done + 1,
                                            state_.updates, sums.loss / samples, sums.correct / samples,
                                            rate_of(state_.updates - 1)));
}

void Trainer::diverged() {
  const engine::StepEngine::Cause cause = engine_.replica().diagnose();
  throw_divergence(fmt::format("{} at epoch {}, step {}: first in {}",
                               cause.too_large ? "a value is too large for train.reduction = \"exact\""
                                               : "the loss is not finite",
                               state_.epochs_done + 1, state_.steps_done, cause.where),
                   cause.too_large ? kSmaller : kSteadier);
}

// A loss can be finite although a parameter is not: ReLU turns NaN into 0. So everything that is validated or
// stored is checked before.
void Trainer::require_finite() {
  const std::string bad = engine_.first_bad_parameter();
  const std::string first = mpi::first_text(
      context_.group, bad.empty() ? bad : fmt::format("{} on rank {}", bad, context_.group.rank()));
  if (first.empty()) return;
  throw_divergence(
      fmt::format("a parameter or its optimizer state is not finite after epoch {}, step {}: first {}",
                  state_.epochs_done + 1, state_.steps_done, first),
      kSteadier);
}

void Trainer::throw_divergence(const std::string& what, const char* hint) {
  const std::string good =
      mpi::on_root(context_.group, [&] { return checkpointing_.newest_file().string(); });
  throw Divergence(
      fmt::format("{}; {}", what,
                  good.empty() ? "there is no checkpoint yet" : "the last good checkpoint is " + good),
      hint);
}

void Trainer::finish_epoch(double seconds, std::int64_t samples) {
  const auto size = static_cast<double>(context_.assignment.training.size());
  metrics::EpochFields line{.epoch = state_.epochs_done + 1,
                            .epochs = context_.job.loop.epochs,
                            .loss = state_.loss_sum / size,
                            .accuracy = state_.correct_sum / size,
                            .learning_rate = rate_of(state_.updates - 1),
                            .images_per_second = seconds > 0 ? static_cast<double>(samples) / seconds : 0,
                            .seconds = seconds};
  require_finite();
  if (validation_.possible()) validation_.at_epoch_end(engine_.result(), state_, line);
  context_.reports.epoch_done(context_.assignment.member, state_.updates, line);
  ++state_.epochs_done;
  state_.steps_done = 0;
  state_.loss_sum = state_.correct_sum = 0;
  if (validation_.possible()) adapt_rate(line.validation_loss);
}

double Trainer::rate_of(std::int64_t update) const {
  return engine_.learning_rate() * state_.feedback.factor *
         context_.job.loop.schedule->factor(update, steps_per_epoch_,
                                            steps_per_epoch_ * context_.job.loop.epochs);
}

void Trainer::adapt_rate(double validation_loss) {
  const double before = state_.feedback.factor;
  context_.job.loop.schedule->epoch_done({state_.epochs_done, validation_loss, engine_.learning_rate()},
                                         state_.feedback);
  if (state_.feedback.factor == before) return;
  context_.reports.progress.note(
      fmt::format("the validation loss does not decrease: learning rate {:g} from epoch {} on",
                  engine_.learning_rate() * state_.feedback.factor, state_.epochs_done + 1));
}

void Trainer::start_from(const run::InitialWeights& weights) { engine_.start_from(weights); }

void Trainer::resume() {
  if (std::optional<run::CheckpointState> newest = checkpointing_.resume()) state_ = std::move(*newest);
}

}  // namespace convoke::train

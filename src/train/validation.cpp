#include "convoke/train/validation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/split.hpp"
#include "convoke/train/reports.hpp"

namespace convoke::train {

Validation::Validation(const ModelContext& context, const StagedEngine& engine, Checkpointing& checkpointing)
    : context_(context),
      loader_(context.assignment.validation_loader != nullptr ? *context.assignment.validation_loader
                                                              : context.loader),
      engine_(engine),
      checkpointing_(checkpointing) {
  const Job& job = context.job;
  const bool stops = job.loop.early_stopping.stops();
  if (possible() || (!stops && !job.loop.schedule->needs_validation())) return;
  throw Error(
      fmt::format("{}, but there are no validation samples{}",
                  stops ? "early stopping monitors " + job.loop.early_stopping.monitor()
                        : fmt::format("schedule \"{}\" needs the validation loss",
                                      text_at(job.loop.schedule->settings(), "name")),
                  job.is_ensemble ? fmt::format(" for member {}", context.assignment.member) : std::string()),
      "set data.validation_split, or increase it");
}

bool Validation::due(std::int64_t updates) const {
  return possible() && context_.job.loop.validate_every > 0 &&
         updates % context_.job.loop.validate_every == 0;
}

void Validation::at_step(const std::vector<float>& parameters, run::CheckpointState& state) {
  const engine::Score found = score(parameters, state);
  if (context_.reports.logs != nullptr) {
    context_.reports.logs->append(
        validation_record(context_.assignment.member, state.epochs_done + 1, state.updates, found));
  }
  record(found, parameters, state);
}

// A validation counts once: if the last step of an epoch was validated, that one has been recorded, also by
// the run that this one resumes.
void Validation::at_epoch_end(const std::vector<float>& parameters, run::CheckpointState& state,
                              metrics::EpochFields& line) {
  const engine::Score found = score(parameters, state);
  line.validation_loss = found.loss;
  line.validation_objective = found.objective;
  line.validation_accuracy = found.accuracy;
  if (!due(state.updates)) record(found, parameters, state);
}

engine::Score Validation::score(const std::vector<float>& parameters, run::CheckpointState& state) {
  const Span span(Activity::kEvaluation);
  if (latest_updates_ != state.updates) {
    const FeatureCache* features = this->features(parameters);
    mpi::together(context_.group, [&] {
      const std::size_t cached = features == nullptr ? 0 : features->last_node();
      const std::size_t stages = stages_begun(context_.job.loop.stages, state.epochs_done);
      if (!evaluator_ || cached != cached_ || stages != stages_) {
        cached_ = cached;
        stages_ = stages;
        const nn::Graph graph = graph_in_epoch(context_.job, state.epochs_done + 1);
        evaluator_.emplace(cached == 0 ? graph : nn::suffix_of(graph, cached),
                           engine::evaluator_options(context_.job.engine, context_.job.model.classes()));
      }
      // The prefix's parameters come first.
      const std::size_t known = features == nullptr ? 0 : features->parameters().size();
      evaluator_->load(std::span(parameters).subspan(known));
    });
    if (features != nullptr && context_.group.root()) {
      context_.phases.features.read += static_cast<std::int64_t>(context_.assignment.validation.size());
    }
    latest_ = engine::score(*evaluator_, features == nullptr ? loader_ : features->loader(),
                            context_.assignment.validation, context_.group);
    latest_updates_ = state.updates;
    if (!std::isfinite(latest_.loss)) {
      latest_.accuracy = latest_.objective = std::numeric_limits<double>::quiet_NaN();
      if (context_.group.root()) {
        context_.reports.progress.warn(fmt::format(
            "the validation loss after step {} is not finite: this validation is ignored", state.updates));
      }
    }
  }
  state.validation_accuracy = latest_.accuracy;
  state.best_validation_accuracy = std::fmax(state.best_validation_accuracy, latest_.accuracy);
  return latest_;
}

// The cache of the engine holds the training split, whose samples may be augmented; validation samples never
// are. A separate split has its own cache, made at the first validation.
const FeatureCache* Validation::features(const std::vector<float>& parameters) {
  const FeatureCache* training = engine_.features();
  if (context_.assignment.validation_loader == nullptr)
    return context_.job.augmenter == nullptr ? training : nullptr;
  const std::size_t last = training == nullptr ? 0 : training->last_node();
  if (last == own_tried_) return own_.get();
  own_tried_ = last;
  own_.reset();
  if (last == 0) return nullptr;
  context_.reports.progress.note(
      fmt::format("computing features: {} validation samples",
                  format_count(static_cast<std::int64_t>(context_.assignment.validation.size()))));
  const mpi::Communicator node = context_.group.split_node();
  try {
    own_ = mpi::together(context_.group, [&] {
      auto cache = std::make_unique<FeatureCache>(context_.job, last, loader_, 1, parameters, node,
                                                  context_.assignment.feature_file.string() + ".validation",
                                                  context_.phases);
      cache->select_epoch(0, [] { return false; });
      return cache;
    });
  } catch (const Error& error) {
    if (!context_.group.root()) return nullptr;
    context_.reports.progress.warn(
        fmt::format("the features of the validation split are not cached: {}", error.what()));
  }
  return own_.get();
}

void Validation::record(const engine::Score& score, const std::vector<float>& parameters,
                        run::CheckpointState& state) {
  run::BestSoFar& best = state.best;
  const EarlyStopping& rule = context_.job.loop.early_stopping;
  const bool better = rule.record(score, state.updates, best);
  if (better && rule.restores_best()) {
    mpi::together(context_.group, [&] { best.parameters = parameters; });
  }
  checkpointing_.keep_best(parameters,
                           {.step = state.updates, .loss = score.loss, .accuracy = score.accuracy},
                           state.epochs_done + 1);
  if (!best.stopped) return;
  context_.reports.progress.note(
      best.updates == 0
          ? fmt::format("stopped early: {} was not finite in {}", rule.monitor(),
                        counted(best.wait, "evaluation"))
          : fmt::format("stopped early: {} has not improved since step {} of {} ({})", rule.monitor(),
                        best.updates, state.updates, counted(best.wait, "evaluation")));
  if (context_.reports.logs != nullptr)
    context_.reports.logs->append(early_stopping_record(context_.assignment.member, rule, state));
}

std::vector<float> Validation::kept(std::vector<float> last, run::CheckpointState& state) const {
  if (state.best.parameters.empty()) return last;
  state.validation_accuracy = state.best.accuracy;
  return state.best.parameters;
}

}  // namespace convoke::train

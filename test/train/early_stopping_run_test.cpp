#include "convoke/core/lookup.hpp"
#include "convoke/metrics/json.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/full_disk.hpp"
#include "support/tiny.hpp"
#include "support/training.hpp"
#include "support/world.hpp"

// Early stopping and validation within epochs in whole runs, on 1 to 4 ranks.

using namespace convoke;
using namespace convoke::run;
using namespace convoke::train;

namespace {

// Validates after every third step and after each epoch of four steps, and stops long before the last epoch,
// when the accuracy cannot grow any more.
Job stopping_job() {
  Job job = tiny::job();
  job.loop.epochs = 30;
  job.loop.learning_rate = 0.02;
  job.samples.validation_split = 0.2;
  job.loop.validate_every = 3;
  job.loop.early_stopping =
      EarlyStopping({.monitor = "validation_accuracy", .patience = 2, .restore_best = true});
  return job;
}

CheckpointState newest(const Job& job, const RunFolder& folder) {
  const Checkpoints checkpoints(folder.checkpoints(), engine::canonical_parameters(job.model.graph),
                                job.fingerprint, job.recipe);
  return checkpoints.newest([](const auto&) {}).value();
}

// Returns the lines of metrics.jsonl without measured times.
std::vector<Settings> lines_of(const RunFolder& folder) {
  std::vector<Settings> lines;
  for (const Settings& line : metrics::read_json_lines(folder.metrics())) {
    Settings kept;
    for (const auto& [key, value] : line.entries()) {
      if (key != "seconds" && key != "images_per_second") kept.set(key, value);
    }
    lines.push_back(std::move(kept));
  }
  return lines;
}

// Returns the steps after which stopping_job validates, each once, up to `last`.
std::vector<std::int64_t> validated_steps(std::int64_t last) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 1; step <= last; ++step) {
    if (step % 3 == 0 || step % 4 == 0) steps.push_back(step);
  }
  return steps;
}

}  // namespace

TEST_CASE("a run that is interrupted after every step stops early where an uninterrupted run does") {
  const tiny::Pictures pictures(150);
  const Job job = stopping_job();
  const tiny::Run whole_run(world());
  const tiny::Result whole = tiny::train_all(job, pictures, world(), whole_run.folder);
  const TrainedMember& expected = whole.training.members.at(0);
  CHECK(expected.epochs_done < job.loop.epochs);
  CHECK(expected.model.parameters == tiny::alone(job, pictures, world()));

  const tiny::Run run(world());
  tiny::Result part;
  int parts = 0;
  std::int64_t samples = 0;
  do {  // the last request has no effect
    part =
        tiny::interrupted(world(), [&] { return tiny::train_all(job, pictures, world(), run.folder, true); });
    samples += part.training.members.at(0).samples_processed;
  } while (part.training.interrupted_by && ++parts < 30 * 4);
  const TrainedMember& found = part.training.members.at(0);
  CHECK(parts >= 5);  // at most the first validation is the best, and two others are not: steps 3, 4, 6
  CHECK(found.model.parameters == expected.model.parameters);
  CHECK(found.model.validation_accuracy == expected.model.validation_accuracy);
  CHECK(found.epochs_done == expected.epochs_done);
  CHECK(samples == expected.samples_processed);

  if (!world().root()) return;
  const CheckpointState a = newest(job, whole_run.folder);
  const CheckpointState b = newest(job, run.folder);
  CHECK(a.best.stopped);
  CHECK(a.best.wait == 2);
  const std::vector<std::int64_t> steps = validated_steps(a.updates);
  CHECK(steps.back() == a.updates);
  CHECK(a.best.updates == steps.end()[-3]);
  CHECK(a.best.evaluations == std::ssize(steps));
  CHECK(a.best.parameters == expected.model.parameters);
  CHECK_FALSE(a.parameters == a.best.parameters);  // the best are kept
  CHECK(b.best.stopped);
  CHECK(b.best.evaluations == a.best.evaluations);
  CHECK(b.best.wait == a.best.wait);
  CHECK(b.best.updates == a.best.updates);
  CHECK(b.best.loss == a.best.loss);
  CHECK(b.best.accuracy == a.best.accuracy);
  CHECK(b.best.parameters == a.best.parameters);
  CHECK(b.parameters == a.parameters);
  CHECK(b.optimizer == a.optimizer);
  CHECK(lines_of(run.folder) == lines_of(whole_run.folder));
}

TEST_CASE(
    "metrics.jsonl records the validations within epochs, and why training stopped; best.h5 is the best model") {
  const tiny::Pictures pictures(150);
  const Job job = stopping_job();
  const tiny::Run run(world());
  const tiny::Result result = tiny::train_all(job, pictures, world(), run.folder);
  world().barrier();
  const std::vector<Settings> lines = lines_of(run.folder);

  // Computes the best step and its values from the lines alone. The epoch's line repeats a validation of its
  // last step.
  std::map<std::string, int> count;
  std::map<std::int64_t, Settings> validations;  // by step
  Settings stopping;
  for (const Settings& line : lines) {
    ++count[text_at(line, "event")];
    if (text_at(line, "event") == "early_stopping") stopping = line;
    const auto step = static_cast<std::int64_t>(number_at(line, "step"));
    if (text_at(line, "event") == "validation") {
      CHECK(step % 3 == 0);
      CHECK(number_at(line, "epoch") == std::ceil(static_cast<double>(step) / 4));
    }
    if (line.find("validation_accuracy") != nullptr) validations[step] = line;
  }
  std::int64_t best_step = 0;
  double best_loss = 0, best_accuracy = 0;
  for (const auto& [step, line] : validations) {
    if (number_at(line, "validation_accuracy") <= best_accuracy) continue;
    best_loss = number_at(line, "validation_loss");
    best_accuracy = number_at(line, "validation_accuracy");
    best_step = step;
  }
  const std::vector<std::int64_t> steps = validated_steps(validations.rbegin()->first);
  CHECK(std::ssize(validations) == std::ssize(steps));
  CHECK(count["validation"] == steps.back() / 3);
  CHECK(count["early_stopping"] == 1);
  CHECK(count["epoch"] == static_cast<int>(result.training.members.at(0).epochs_done));
  CHECK(number_at(stopping, "member") == 0);
  CHECK(number_at(stopping, "step") == static_cast<double>(steps.back()));
  CHECK(number_at(stopping, "best_step") == static_cast<double>(best_step));
  CHECK(best_step == steps.end()[-3]);
  CHECK(number_at(stopping, "best_validation_loss") == best_loss);
  CHECK(number_at(stopping, "best_validation_accuracy") == best_accuracy);
  CHECK_THAT(metrics::to_json(stopping), Contains(R"("monitor":"validation_accuracy")"));
  CHECK_THAT(metrics::to_json(stopping), Contains(R"("restored":true)"));
  CHECK(result.training.members.at(0).model.validation_accuracy == best_accuracy);

  if (!world().root()) return;
  const std::vector<float> best = load_models(run.folder.checkpoints() / "best.h5").members.at(0).parameters;
  const tiny::PlainScore expected = tiny::plain_score(best, pictures, 120);
  CHECK(best_accuracy == Approx(expected.accuracy));
  CHECK(best_loss == Approx(expected.loss).epsilon(1e-4));
  const CheckpointState state = newest(job, run.folder);
  CHECK(state.best.accuracy == best_accuracy);
  CHECK(state.best.loss == Approx(best_loss));
}

TEST_CASE("validations with a non-finite loss are reported, and none is the best") {
  const tiny::Pictures pictures(150), others(40);
  Job job = stopping_job();
  job.loop.early_stopping = EarlyStopping({.patience = 2, .restore_best = true});
  job.loop.schedule = optim::make_schedule({{"name", "plateau"}, {"patience", 1}});
  const data::BatchLoader training = pictures.loader();
  const data::BatchLoader validation(others.split(), Shape{1, 8, 8}, data::Normalization{{3e38F}, {0}});
  const tiny::Run run(world());
  const TrainedMember member =
      tiny::train_all(job, DataLoaders(training, &validation), world(), run.folder).training.members.at(0);
  CHECK(member.stopped_at == 5);  // validated after step 3, and after the epoch
  CHECK(std::isnan(member.model.validation_accuracy));
  world().barrier();
  if (!world().root()) return;
  int validations = 0;
  for (const Settings& line : lines_of(run.folder)) {
    if (text_at(line, "event") != "validation") continue;
    ++validations;
    CHECK_THAT(metrics::to_json(line), Contains(R"("validation_loss":null)"));
  }
  CHECK(validations == 1);
  CHECK_FALSE(fs::exists(run.folder.checkpoints() / "best.h5"));
  CHECK(newest(job, run.folder).best.updates == 0);
  CHECK(newest(job, run.folder).parameters == member.model.parameters);
}

TEST_CASE("validations after steps do not replace those at the ends of epochs") {
  const tiny::Pictures pictures(150);
  Job job = stopping_job();
  const auto trained = [&](std::int64_t validate_every) {
    job.loop.validate_every = validate_every;
    const tiny::Run run(world());
    const tiny::Result result = tiny::train_all(job, pictures, world(), run.folder);
    world().barrier();
    const TrainedMember& member = result.training.members.at(0);
    return std::tuple(member.stopped_at, member.model.parameters,
                      bytes_of(run.folder.checkpoints() / "best.h5"));
  };
  const auto [stopped_at, parameters, best] = trained(0);
  CHECK(stopped_at > 0);
  CHECK(stopped_at % 4 == 0);
  // Step validations that never come, and those that come only where an epoch ends anyway, change nothing.
  for (const std::int64_t validate_every : {1000, 4}) {
    CAPTURE(validate_every);
    CHECK(trained(validate_every) == std::tuple(stopped_at, parameters, best));
  }
}

TEST_CASE("early stopping, and a schedule that needs validations, are refused without samples for them") {
  const tiny::Pictures pictures(128);
  Job job = tiny::job();
  const auto refusal = [&] { return error_of([&] { tiny::train_all(job, pictures, world()); }); };
  job.loop.schedule = optim::make_schedule({{"name", "plateau"}});
  CHECK(refusal() == "schedule \"plateau\" needs the validation loss, but there are no validation samples");
  job.loop.early_stopping = EarlyStopping({.patience = 2});
  CHECK(refusal() == "early stopping monitors validation_loss, but there are no validation samples");
}

namespace {

struct ByLine {
  std::int64_t step;
  double loss;
};

// Returns the best validations by their lines in metrics.jsonl; the earlier one first if equal.
std::vector<ByLine> best_by_lines(const RunFolder& folder, std::size_t count) {
  std::vector<ByLine> all;
  for (const Settings& line : lines_of(folder)) {
    if (text_at(line, "event") != "validation") continue;
    all.push_back({static_cast<std::int64_t>(number_at(line, "step")),
                   std::round(1e6 * number_at(line, "validation_loss"))});
  }
  std::stable_sort(all.begin(), all.end(), [](const ByLine& a, const ByLine& b) { return a.loss < b.loss; });
  all.resize(std::min(all.size(), count));
  return all;
}

// Checks best.h5, best-2.h5, best-3.h5, and that there is no best-4.h5.
std::vector<std::string> three_best(const RunFolder& folder) {
  CHECK_FALSE(exists(folder.checkpoints() / "best-4.h5"));
  std::vector<std::string> files;
  for (const char* name : {"best.h5", "best-2.h5", "best-3.h5"}) {
    files.push_back(bytes_of(folder.checkpoints() / name));
  }
  return files;
}

// A job that learns fast, then overshoots: the best validations are neither the last nor in order.
Job keeping_job() {
  Job job = stopping_job();
  job.loop.epochs = 5;
  job.loop.learning_rate = 0.05;
  job.loop.validate_every = 1;
  job.loop.early_stopping =
      EarlyStopping({.patience = 1000, .min_delta = 0.3});  // which does not matter for models
  job.checkpoints.keep_best = 3;
  return job;
}

}  // namespace

TEST_CASE(
    "the three best models are kept for any min_delta, also if a run is resumed from older checkpoints") {
  const tiny::Pictures pictures(150);
  const Job job = keeping_job();
  const tiny::Run whole_run(world());
  const fs::path checkpoints = whole_run.folder.checkpoints();
  // The first model cannot be written at once, and is written later.
  if (world().root()) {
    fs::create_directories(checkpoints);
    fail_next_rename_to(checkpoints / "best.h5");
  }
  tiny::train_all(job, pictures, world(), whole_run.folder);
  world().barrier();
  const std::vector<std::string> expected = three_best(whole_run.folder);
  if (world().root()) {
    const std::vector<ByLine> by_lines = best_by_lines(whole_run.folder, 3);
    const char* names[] = {"best.h5", "best-2.h5", "best-3.h5"};
    for (std::size_t i = 0; i < 3; ++i) {
      const Validated found = validated_in(checkpoints / names[i]).value_or(Validated{});
      CHECK(found.step == by_lines[i].step);
      CHECK(std::round(1e6 * found.loss) == by_lines[i].loss);
    }
  }

  const tiny::Run run(world());
  int parts = 0;
  tiny::Result part;
  do {
    part =
        tiny::interrupted(world(), [&] { return tiny::train_all(job, pictures, world(), run.folder, true); });
    world().barrier();
    // Every third time, the newest checkpoint is lost; its models are kept.
    const auto newest_file =
        run.folder.checkpoints() / fmt::format("epoch-{:04}-step-{:06}.h5", parts / 4, parts % 4 + 1);
    if (parts % 3 == 2 && world().root()) fs::remove(newest_file);
    world().barrier();
  } while (part.training.interrupted_by && ++parts < 100);
  CHECK(parts >= 5 * 4);
  CHECK(three_best(run.folder) == expected);
}

TEST_CASE("best.h5 is written only for a better validation") {
  const tiny::Pictures pictures(150);
  const tiny::Run run(world());
  Job job = stopping_job();
  job.loop.learning_rate = 0.001;
  const auto best = run.folder.checkpoints() / "best.h5";
  const auto train_to = [&](std::int64_t epochs, double min_delta, std::int64_t keep_best = 1) {
    job.loop.epochs = epochs;
    job.loop.early_stopping = EarlyStopping({.patience = 100, .min_delta = min_delta});
    job.checkpoints.keep_best = keep_best;
    tiny::train_all(job, pictures, world(), run.folder, true);
    world().barrier();
  };
  train_to(1, 0, 0);
  CHECK_FALSE(exists(best));
  world().barrier();
  train_to(2, 0);
  CHECK(exists(best));
  train_to(3, 1e9);  // improvements are smaller than min_delta, but count for best.h5
  CHECK(validated_in(best).value_or(Validated{}).step == 12);
  world().barrier();
  // A file that replaces it leaves the link unchanged.
  if (world().root()) fs::create_hard_link(best, run.folder.path() / "link.h5");
  world().barrier();
  job.loop.learning_rate = 1;  // no later validation is better
  train_to(4, 0);
  CHECK(fs::hard_link_count(best) == 2);
}

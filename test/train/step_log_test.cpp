// The lines of `log.every_steps`, on 1 to 4 ranks.
#include "convoke/core/lookup.hpp"
#include "convoke/data/epoch_plan.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/train/reports.hpp"
#include "support/catch.hpp"
#include "support/training.hpp"
#include "support/world.hpp"

using namespace convoke;
using namespace convoke::train;
using tiny::Run;
using tiny::train_all;

namespace {

constexpr std::size_t kPictures = 150;  // five steps of an epoch; the last has 22 samples

Job logged_job(std::int64_t every) {
  Job job = tiny::job();
  job.log.every_steps = every;
  return job;
}

std::vector<Settings> lines_about(const run::RunFolder& folder, std::string_view event) {
  std::vector<Settings> lines = metrics::read_json_lines(folder.metrics());
  std::erase_if(lines, [&](const Settings& line) { return text_at(line, "event") != event; });
  return lines;
}

std::vector<std::int64_t> steps_of(const std::vector<Settings>& lines) {
  std::vector<std::int64_t> steps;
  for (const Settings& line : lines) steps.push_back(count_at(line, "step").value_or(-1));
  return steps;
}

// Checks that the lines of each epoch have the mean loss and accuracy of the line of the epoch. `sizes`: the
// samples behind each line of an epoch.
void check_means(const run::RunFolder& folder, const std::vector<double>& sizes) {
  const std::vector<Settings> steps = lines_about(folder, "step"), epochs = lines_about(folder, "epoch");
  CHECK(steps.size() == epochs.size() * sizes.size());
  if (steps.size() != epochs.size() * sizes.size()) return;
  for (std::size_t e = 0; e < epochs.size(); ++e) {
    for (const char* key : {"loss", "accuracy"}) {
      double sum = 0, samples = 0;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const Settings& line = steps[e * sizes.size() + i];
        CHECK(count_at(line, "epoch") == count_at(epochs[e], "epoch"));
        sum += number_at(line, key) * sizes[i];
        samples += sizes[i];
      }
      CHECK(sum / samples == Approx(number_at(epochs[e], key)).epsilon(1e-9));
    }
  }
}

}  // namespace

TEST_CASE("every N-th step is logged, and all steps together have the loss of the epoch") {
  const tiny::Pictures pictures(kPictures);
  const Run all(world()), some(world()), none(world());
  train_all(logged_job(1), pictures, world(), all.folder);
  train_all(logged_job(3), pictures, world(), some.folder);
  train_all(logged_job(0), pictures, world(), none.folder);
  world().barrier();
  check_means(all.folder, {32, 32, 32, 32, 22});
  CHECK(lines_about(none.folder, "step").empty());
  const std::vector<Settings> every = lines_about(all.folder, "step"),
                              third = lines_about(some.folder, "step");
  CHECK(steps_of(third) == std::vector<std::int64_t>{3, 6, 9});
  for (const Settings& line : third) CHECK(std::ranges::count(every, line) == 1);
  CHECK((!every.empty() && number_at(every[0], "learning_rate") == 0.01));
}

TEST_CASE("with local SGD steps are logged when the ranks synchronize, with the mean over all ranks") {
  const tiny::Pictures pictures(kPictures);
  const Run run(world());
  Job job = logged_job(1);
  job.loop.strategy = sync::make_strategy({{"name", "local-sgd"}, {"every", 2}});
  train_all(job, pictures, world(), run.folder);
  world().barrier();
  CHECK(steps_of(lines_about(run.folder, "step")) == std::vector<std::int64_t>{2, 4, 5, 7, 9, 10});
  check_means(run.folder, {64, 64, 22});
}

TEST_CASE("each member logs its own steps") {
  const tiny::Pictures pictures(kPictures);
  const Run run(world());
  Job job = tiny::ensemble_job(2, data::Sharding::kFull);
  job.log.every_steps = 2;
  train_all(job, pictures, world(), run.folder);
  world().barrier();
  std::map<std::int64_t, std::vector<std::int64_t>> steps;
  for (const Settings& line : lines_about(run.folder, "step"))
    steps[*count_at(line, "member")].push_back(*count_at(line, "step"));
  const std::vector<std::int64_t> expected{2, 4, 6, 8, 10};
  CHECK(steps == std::map<std::int64_t, std::vector<std::int64_t>>{{0, expected}, {1, expected}});
}

TEST_CASE("a resumed run has the lines of an uninterrupted one, each once") {
  const tiny::Pictures pictures(kPictures);
  const Job job = logged_job(2);
  const Run whole(world()), parts(world());
  train_all(job, pictures, world(), whole.folder);
  const tiny::Result stopped =
      tiny::interrupted(world(), [&] { return train_all(job, pictures, world(), parts.folder); });
  CHECK(bool(stopped.training.interrupted_by));
  // As a run that was killed some steps after its checkpoint leaves it.
  if (world().root()) {
    std::ofstream(parts.folder.metrics(), std::ios::app)
        << R"({"event":"step","member":0,"epoch":1,"step":2,"loss":99,"accuracy":0,"learning_rate":1})"
        << '\n'
        << R"({"event":"epoch","member":0,"epoch":1,"step":5,"loss":99})" << '\n';
  }
  world().barrier();
  train_all(job, pictures, world(), parts.folder, true);
  world().barrier();
  CHECK(lines_about(parts.folder, "step") == lines_about(whole.folder, "step"));
  CHECK(lines_about(parts.folder, "epoch").size() == 2);
}

TEST_CASE("a resumed ensemble has the lines of an uninterrupted one, each once, whoever trains a member") {
  const tiny::Pictures pictures(kPictures);
  Job job = tiny::ensemble_job(2, data::Sharding::kFull);
  job.log.every_steps = 2;
  const Run whole(world()), parts(world());
  train_all(job, pictures, world(), whole.folder);
  tiny::interrupted(world(), [&] { return train_all(job, pictures, world(), parts.folder); });
  world().barrier();
  const auto lines_of = [](const Run& run, std::int64_t member) {
    std::vector<Settings> lines = lines_about(run.folder, "step");
    std::erase_if(lines, [&](const Settings& line) { return count_at(line, "member") != member; });
    return lines;
  };
  // As if the job had been killed some steps after the checkpoints. A member may have ended.
  if (world().root()) {
    std::ofstream file(parts.folder.metrics(), std::ios::app);
    for (const std::int64_t member : {0, 1}) {
      const std::vector<std::int64_t> steps = steps_of(lines_of(parts, member));
      const std::int64_t next = steps.empty() ? 2 : steps.back() + 2;
      if (next > 10) continue;
      file << R"({"event":"step","member":)" << member << R"(,"epoch":1,"step":)" << next << R"(,"loss":99})"
           << '\n';
    }
  }
  world().barrier();
  train_all(job, pictures, world(), parts.folder, true);
  world().barrier();
  for (const std::int64_t member : {0, 1}) CHECK(lines_of(parts, member) == lines_of(whole, member));
}

TEST_CASE("a resumed ensemble has the lines that the root of another group had not sent when it was killed") {
  const tiny::Pictures pictures(kPictures);
  const Job job = tiny::ensemble_job(2, data::Sharding::kFull);
  const Run run(world());
  train_all(job, pictures, world(), run.folder);
  const auto has_copy = [&] { return fs::exists(run.folder.file("metrics-1.jsonl")); };
  world().barrier();
  CHECK_FALSE(has_copy());
  const std::vector<Settings> lines = lines_about(run.folder, "epoch");
  CHECK(lines.size() == 4);
  world().barrier();
  if (world().root()) {
    fs::remove(run.folder.metrics());
    RunLogs killed(job, run.folder, 1);
    for (const Settings& line : lines) killed.append(line);
    CHECK(has_copy());
  }
  world().barrier();
  train_all(job, pictures, world(), run.folder, true);
  world().barrier();
  CHECK_FALSE(has_copy());
  CHECK(lines_about(run.folder, "epoch") == lines);
  world().barrier();
  if (world().root()) write_file(run.folder.file("metrics-1.jsonl"), "{\"event\":\n");
  world().barrier();
  train_all(job, pictures, world(), run.folder, true);  // a damaged copy stops nothing
  world().barrier();
  CHECK(fs::exists(run.folder.file("metrics-1.jsonl.damaged")));
  CHECK(lines_about(run.folder, "epoch") == lines);
}

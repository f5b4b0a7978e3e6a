#include "convoke/study/running/queued_runs.hpp"

#include "convoke/core/text.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "tiny_recipe.hpp"

using namespace convoke;
using namespace convoke::study;

namespace {

struct QueuedStudy : TinyStudies {
  StudyFile study;
  explicit QueuedStudy(const std::string& more = "ranks = [1, 2, 4]\nrepeats = 2\nat_most = 8\n")
      : study(parse(more)) {}
  fs::path out() const { return folder / "out"; }
};

Measurement measured(const Configuration& configuration, std::int64_t repeat,
                     std::vector<std::string> marks = {}) {
  Measurement run;
  run.system = configuration.at.system, run.mode = configuration.at.mode, run.batch = configuration.at.batch;
  run.ranks = configuration.at.ranks, run.threads = configuration.at.threads,
  run.fraction = configuration.at.fraction;
  run.repeat = repeat;
  run.makespan_seconds = 1.5;
  run.marks = std::move(marks);
  return run;
}

}  // namespace

TEST_CASE("tasks are all possible runs of all configurations, round by round") {
  const QueuedStudy place;
  const std::vector<Task> tasks = tasks_of(place.study, 3);
  REQUIRE(tasks.size() == 24);
  std::set<std::pair<std::size_t, std::int64_t>> all;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    CHECK(tasks[i].repeat == static_cast<std::int64_t>(i / 3) + 1);
    all.emplace(tasks[i].configuration, tasks[i].repeat);
  }
  CHECK(all.size() == 24);
}

TEST_CASE("results of tasks are collected once, and failed or missing runs are repeated") {
  const QueuedStudy place;
  const auto configurations = planned_configurations(place.study);
  const StudyFolder folder = StudyFolder::create(place.study, place.out(), false);
  const auto wanted = [&] {
    return wanted_tasks(place.study, configurations, all_runs(place.study, configurations, folder));
  };
  CHECK(wanted() == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});

  const std::vector<Task> tasks = tasks_of(place.study, configurations.size());
  const auto leave = [&](std::size_t i, std::vector<std::string> marks = {}) {
    const Configuration& configuration = configurations[tasks[i].configuration];
    const std::vector<Measurement> row{measured(configuration, tasks[i].repeat, std::move(marks))};
    write_measurements(folder.row(configuration, tasks[i].repeat), row);
  };
  leave(0);
  leave(3, {"failed"});
  leave(5);
  CHECK(wanted() == std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK(collect(place.study, configurations, folder).runs.size() == 3);
  CHECK(folder.read().size() == 3);
  CHECK_FALSE(fs::exists(folder.row(configurations[tasks[0].configuration], tasks[0].repeat)));
  CHECK(wanted() == std::vector<std::int64_t>{1, 2, 3, 4});

  leave(0);  // as after a crash between table and rows
  leave(3);
  const Collected collected = collect(place.study, configurations, folder);
  CHECK(collected.runs.size() == 4);
  CHECK(collected.added.size() == 1);
  CHECK(wanted() == std::vector<std::int64_t>{1, 2, 4});

  // A second result of a repeat is not an independent run.
  Measurement second = measured(configurations[tasks[5].configuration], tasks[5].repeat);
  second.makespan_seconds = 2.5;
  const fs::path row = folder.row(configurations[tasks[5].configuration], tasks[5].repeat);
  write_measurements(row, std::span(&second, 1));
  CHECK(collect(place.study, configurations, folder).added.empty());
  CHECK(folder.read().size() == 4);
  CHECK_FALSE(fs::exists(row));
}

TEST_CASE("collecting adds new columns to earlier runs") {
  const QueuedStudy place("ranks = [1]\ncolumns = [\"test.ece\"]\n");
  const auto configurations = planned_configurations(place.study);
  const StudyFolder folder = StudyFolder::create(place.study, place.out(), false);
  const Measurement run = measured(configurations[0], 1);
  append_measurement(folder.measurements(), run);
  write_file(folder.run(configurations[0], 1) / "summary.json", R"({"test": {"ece": 0.25}})");
  CHECK(collect(place.study, configurations, folder).added.empty());
  CHECK(folder.read().at(0).further.at("test.ece") == 0.25);
}

TEST_CASE("a run that another process makes is left alone") {
  const QueuedStudy place;
  const Configuration configuration = planned_configurations(place.study)[0];
  const StudyFolder folder = StudyFolder::create(place.study, place.out(), false);
  const fs::path output = folder.run(configuration, 1);
  fs::create_directory(output);
  ConfigurationRunner runner(place.study, folder,
                             {.program = "false", .cores = cores_here(), .launch_options = {}});
  {
    const auto lock = folder.lock_run(configuration, 1);
    CHECK_THAT(error_of([&] { runner.run(configuration, 1, [] {}); }), Contains("is in use by process"));
    CHECK(fs::exists(output));
  }
  CHECK_FALSE(fs::exists(output.string() + ".lock"));
}

TEST_CASE(
    "runs are added to configurations with an imprecise makespan, at most doubling them, up to at_most") {
  const QueuedStudy place("ranks = [1, 2]\nrepeats = 2\nat_most = 5\ntarget = 0.05\n");
  const auto configurations = planned_configurations(place.study);
  const auto run = [&](std::size_t configuration, std::int64_t repeat, double seconds) {
    Measurement made = measured(configurations[configuration], repeat);
    made.makespan_seconds = seconds;
    return made;
  };
  const auto repeats_of = [&](const std::vector<std::int64_t>& numbers) {
    std::multiset<std::pair<std::size_t, std::int64_t>> found;
    const std::vector<Task> tasks = tasks_of(place.study, configurations.size());
    for (const std::int64_t i : numbers) {
      const Task& task = tasks[static_cast<std::size_t>(i)];
      found.emplace(task.configuration, task.repeat);
    }
    return found;
  };
  // The first configuration's times are all equal, the second's scatter.
  std::vector<Measurement> runs{run(0, 1, 2.0), run(0, 2, 2.001), run(1, 1, 1.0), run(1, 2, 2.0)};
  CHECK(repeats_of(wanted_tasks(place.study, configurations, runs)) ==
        std::multiset<std::pair<std::size_t, std::int64_t>>{{1, 3}, {1, 4}});
  runs.push_back(run(1, 3, 1.5));
  runs.push_back(run(1, 4, 1.2));
  CHECK(repeats_of(wanted_tasks(place.study, configurations, runs)) ==
        std::multiset<std::pair<std::size_t, std::int64_t>>{{1, 5}});
  runs.push_back(run(1, 5, 1.1));
  CHECK(wanted_tasks(place.study, configurations, runs).empty());
}

TEST_CASE("jobs continue automatically only with configurations of which a run has arrived") {
  const QueuedStudy place("ranks = [1, 2, 4]\nrepeats = 2\nat_most = 8\n");
  const auto configurations = planned_configurations(place.study);
  const std::vector<Task> tasks = tasks_of(place.study, configurations.size());
  const auto configurations_in = [&](const Collected& collected) {
    std::set<std::size_t> found;
    for (const std::int64_t i : further_tasks(place.study, configurations, collected))
      found.insert(tasks[static_cast<std::size_t>(i)].configuration);
    return found;
  };
  const std::vector<Measurement> before{measured(configurations[0], 1)};
  CHECK(configurations_in({.runs = before, .added = {}}).empty());  // no run has arrived
  std::vector<Measurement> runs = before;
  const std::vector<Measurement> added{measured(configurations[1], 1),
                                       measured(configurations[2], 1, {"failed"})};
  runs.insert(runs.end(), added.begin(), added.end());
  CHECK(configurations_in({.runs = runs, .added = added}) == std::set<std::size_t>{1});
}

TEST_CASE("a study's folder is used again only by the same study") {
  const QueuedStudy place;
  const auto create = [&](const StudyFile& study, bool resume) {
    return error_of([&] { StudyFolder::create(study, place.out(), resume); });
  };
  CHECK_THAT(create(place.study, true), Contains("is not a study folder"));  // a wrong name
  CHECK_FALSE(fs::exists(place.out()));
  CHECK(create(place.study, false).empty());
  CHECK_THAT(create(place.study, false), Contains("is not empty"));
  CHECK(create(place.study, true).empty());
  CHECK(create(place.parse("ranks = [1, 2, 3]\nrepeats = 5\nbudget = \"1 h\"\n"), true).empty());
  CHECK(StudyFile::load(place.out() / "study.toml").repeats == 5);
  CHECK_THAT(
      create(place.parse("[set]\ntrain.epochs = 2\n"), true),
      Contains("name, [set] or new_seeds has changed since this study began (set.train.epochs: absent in the "
               "folder, 2 now)"));
  const StudyFile table =
      place.parse("[set]\n\"train.optimizer\" = \"sgd\"\n\"train.optimizer.learning_rate\" = 0.05\n");
  StudyFolder::create(table, place.folder / "table", false);
  CHECK(error_of([&] { StudyFolder::create(table, place.folder / "table", true); }).empty());
  CHECK_THAT(create(place.parse("new_seeds = false\n"), true),
             Contains("(new_seeds: true in the folder, false now)"));
  CHECK_THAT(create(place.parse("name = \"other\"\n"), true), Contains(" in the folder, other now)"));

  fs::create_directory(place.folder / "other");
  place.write("other/notes.txt", "mine");
  CHECK_THAT(error_of([&] { StudyFolder::create(place.study, place.folder / "other", true); }),
             Contains("study.toml is missing"));
  CHECK_THAT(error_of([&] { StudyFolder::open(place.folder / "nowhere"); }),
             Contains("study.toml is missing"));
}

TEST_CASE("a resumed study compares the values of its recipes, not their text, and names keys that differ") {
  const QueuedStudy place;
  const auto resume = [&] { return error_of([&] { StudyFolder::create(place.study, place.out(), true); }); };
  StudyFolder::create(place.study, place.out(), false);
  const fs::path stored = place.out() / "recipes/tiny.toml";
  const std::string text = *read_text(stored);

  // As an older program, without a key of today, would have stored it.
  const std::size_t key = text.find("\non_divergence = ");
  REQUIRE(key != std::string::npos);
  std::ofstream(stored) << text.substr(0, key) << text.substr(text.find('\n', key + 1));
  CHECK(resume().empty());
  CHECK(read_text(stored) == text);

  place.write("tiny.toml", "description = \"in other words\"\n" + std::string(kTinyRecipe));
  CHECK(resume().empty());

  place.write("tiny.toml", std::string(kTinyRecipe) + "epochs = 3\n");
  const std::string refusal = resume();
  CHECK_THAT(refusal, Contains("tiny.toml has changed since this study began (train.epochs: "));
  CHECK_THAT(refusal, Contains(" in the folder, 3 now)"));
}

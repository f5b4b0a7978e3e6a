#include "convoke/study/parts.hpp"

#include <filesystem>
#include <fstream>
#include <set>

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"
#include "tiny_recipe.hpp"

using namespace convoke;
using namespace convoke::study;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

struct Place {
  TemporaryFolder folder;
  StudyFile study;
  explicit Place(const std::string& more = "ranks = [1, 2, 4]\nrepeats = 2\n") {
    write("tiny.toml", kTinyRecipe);
    study = parse(more);
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder / name) << text; }
  StudyFile parse(const std::string& more) const {
    return StudyFile::parse("recipe = \"tiny.toml\"\n" + more, (folder / "s.toml").string());
  }
  fs::path out() const { return folder / "out"; }
};

Measurement measured(const Configuration& cell, std::int64_t repeat, std::vector<std::string> marks = {}) {
  Measurement run;
  run.system = cell.at.system, run.mode = cell.at.mode, run.batch = cell.at.batch;
  run.ranks = cell.at.ranks, run.threads = cell.at.threads, run.portion = cell.at.portion;
  run.repeat = repeat;
  run.makespan_seconds = 1.5;
  run.marks = std::move(marks);
  return run;
}

}  // namespace

TEST_CASE("tasks are all repeats of all cells, round by round") {
  const Place place;
  const std::vector<Task> tasks = tasks_of(place.study, 3);
  REQUIRE(tasks.size() == 6);
  std::set<std::pair<std::size_t, std::int64_t>> all;
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(tasks[i].repeat == (i < 3 ? 1 : 2));
    all.emplace(tasks[i].cell, tasks[i].repeat);
  }
  CHECK(all.size() == 6);
}

TEST_CASE("what tasks have left is collected once, and what failed or is not there is missing") {
  const Place place;
  const auto cells = configurations(place.study);
  const StudyFolder folder = StudyFolder::create(place.study, place.out(), false);
  CHECK(missing_tasks(place.study, cells, folder) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});

  const std::vector<Task> tasks = tasks_of(place.study, cells.size());
  const auto leave = [&](std::size_t i, std::vector<std::string> marks = {}) {
    const Configuration& cell = cells[tasks[i].cell];
    const std::vector<Measurement> row{measured(cell, tasks[i].repeat, std::move(marks))};
    write_measurements(folder.row(cell, tasks[i].repeat), row);
  };
  leave(0);
  leave(3, {"failed"});
  leave(5);
  CHECK(missing_tasks(place.study, cells, folder) == std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK(collect(place.study, cells, folder).size() == 3);
  CHECK(folder.read().size() == 3);
  CHECK_FALSE(fs::exists(folder.row(cells[tasks[0].cell], tasks[0].repeat)));
  CHECK(missing_tasks(place.study, cells, folder) == std::vector<std::int64_t>{1, 2, 3, 4});

  leave(0);  // as a crash between table and rows would leave it
  leave(3);
  CHECK(collect(place.study, cells, folder).size() == 4);
  CHECK(missing_tasks(place.study, cells, folder) == std::vector<std::int64_t>{1, 2, 4});
}

TEST_CASE("a study's folder is used again by the same study alone") {
  const Place place;
  const auto create = [&](const StudyFile& study, bool resume) {
    return error_of([&] { StudyFolder::create(study, place.out(), resume); });
  };
  CHECK(create(place.study, false).empty());
  CHECK_THAT(create(place.study, false), Contains("is not empty"));
  CHECK(create(place.study, true).empty());
  CHECK(create(place.parse("ranks = [1, 2, 3]\nrepeats = 5\nbudget = \"1 h\"\n"), true).empty());
  CHECK(StudyFile::load(place.out() / "study.toml").repeats == 5);
  CHECK_THAT(create(place.parse("[set]\ntrain.epochs = 2\n"), true),
             Contains("[set] or new_seeds was different"));
  CHECK_THAT(create(place.parse("new_seeds = false\n"), true), Contains("[set] or new_seeds was different"));
  place.write("tiny.toml", std::string(kTinyRecipe) + "epochs = 3\n");
  CHECK_THAT(create(place.study, true), Contains("tiny.toml is not what it was when this study began"));

  fs::create_directory(place.folder / "other");
  place.write("other/notes.txt", "mine");
  CHECK_THAT(error_of([&] { StudyFolder::create(place.study, place.folder / "other", true); }),
             Contains("there is no study.toml"));
  CHECK_THAT(error_of([&] { StudyFolder::open(place.folder / "nowhere"); }),
             Contains("there is no study.toml"));
}

#include "convoke/supervise/run_view.hpp"

#include "convoke/run/run_folder.hpp"
#include "convoke/run/stopping.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke::run;
using namespace convoke::supervise;
using namespace std::chrono_literals;
using State = RunView::State;

namespace {

/// A run of three epochs, two of which are complete.
struct ViewedRun {
  TemporaryFolder folder;

  ViewedRun() {
    write_file(
        folder / "environment.json",
        R"({"ranks":4,"threads":2,"placements":[{"rank":0,"host":"n1"},{"rank":1,"host":"n2"},{"rank":2,"host":"n1"}]})");
    write_file(
        folder / "metrics.jsonl",
        R"({"event":"epoch","member":0,"epoch":1,"loss":2.0,"accuracy":0.25,"validation_loss":1.5,"validation_accuracy":0.5}
{"event":"epoch","member":1,"epoch":1,"loss":1.0,"accuracy":0.75}
{"event":"step","member":0,"epoch":2,"step":7,"loss":9,"accuracy":0,"learning_rate":0.1}
{"event":"epoch","member":0,"epoch":2,"loss":0.5,"accuracy":0.875,"validation_loss":1,"validation_accuracy":0.625}
{"event":"evaluation","split":"test"}
{"event":"epoch","member":0,"epo)");
    write_file(folder / "checkpoints/member-000/epoch-0001.h5", "");
    write_file(folder / "checkpoints/best.h5", "");
  }
  RunView view() const { return view_run(folder.path()); }
};

}  // namespace

TEST_CASE("status.json has the last published status, with an ETA from the start of the run") {
  const TemporaryFolder folder;
  {
    StatusWriter writer(folder / "status.json", in_seconds(3600));
    writer.publish({.title = "tiny", .epoch = 1, .epochs = 2, .step = 10, .steps = 30});
    writer.publish({.title = "tiny", .epoch = 2, .epochs = 2, .step = 20, .steps = 30, .loss = 0.5});
  }
  const RunStatus status = read_status(folder / "status.json").value();
  CHECK(status.title == "tiny");
  CHECK(status.step == 20);
  CHECK(status.loss == 0.5);
  CHECK(std::isnan(status.accuracy));
  CHECK(status.eta_seconds >= 0);
  CHECK(status.eta_seconds < 10);
  CHECK(status.job_seconds_left > 3590);
  CHECK(status.job_seconds_left <= 3600);
  CHECK_FALSE(read_status(folder / "none"));
}

TEST_CASE("the folder shows whether a run is running, stopped, silent or complete") {
  const ViewedRun run;
  CHECK(run.view().state == State::kStopped);
  {
    const RunLock lock(run.folder.path());
    CHECK(run.view().state == State::kBegins);
    write_file(
        run.folder / "status.json",
        R"({"title":"tiny","epoch":3,"epochs":3,"step":250,"steps":300,"loss":0.25,"accuracy":0.9,"images_per_second":12345,"eta_seconds":61,"job_seconds_left":3601})");
    const RunView view = run.view();
    CHECK(view.state == State::kRuns);
    const std::string text = to_text(view, 80);
    CHECK_THAT(text, Contains("running: process "));
    CHECK_THAT(text, Contains("4 ranks x 2 threads on n1, n2"));
    CHECK_THAT(text, Contains("tiny: epoch 3/3, step 250 of 300 (83 %)"));
    CHECK_THAT(text, Contains("loss 0.2500   accuracy 0.9000   12,345 images/s"));
    CHECK_THAT(text, Contains("job ends in"));
    CHECK_THAT(text, Contains("checkpoints/member-000/epoch-0001.h5"));
    CHECK_THAT(text, Contains("loss by epoch   * training   o validation"));
    CHECK(view.loss[0].points ==
          std::vector<std::pair<double, double>>{{1, 1.5}, {2, 0.5}});  // mean of members
    CHECK(view.accuracy[1].points == std::vector<std::pair<double, double>>{{1, 0.5}, {2, 0.625}});

    last_write_time(run.folder / "status.json", fs::file_time_type::clock::now() + 10min);
    CHECK_THAT(to_text(run.view(), 80), Contains("ETA          1 min 01 s"));
    for (const char* file : {"status.json", "lock"}) {
      last_write_time(run.folder / file, fs::file_time_type::clock::now() - 10min);
    }
    CHECK(run.view().state == State::kSilent);
    CHECK_THAT(to_text(run.view(), 80), Contains("no sign of life for 10 min"));
  }
  write_file(run.folder / "summary.json", R"({"makespan_seconds":75.5,"test":{"accuracy":0.987}})");
  CHECK(run.view().state == State::kComplete);
  CHECK_THAT(to_text(run.view(), 80), Contains("test accuracy 0.9870") && !Contains("resumed"));
  write_file(run.folder / "summary.json",
             R"({"makespan_seconds":75.5,"resumed":true,"test":{"accuracy":0.987}})");
  CHECK_THAT(to_text(run.view(), 80), Contains("since it was resumed, test accuracy 0.9870"));
}

TEST_CASE("a folder that is not a run is refused") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of([&] { view_run(folder.path()); }), Contains("is not a run folder"));
  CHECK_THAT(error_of([&] { view_run(folder / "none"); }), Contains("is not a run folder"));
}

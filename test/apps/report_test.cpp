// Pages of runs: the page that a run writes, and `convoke report`.
#include "apps/place.hpp"
#include "support/catch.hpp"

TEST_CASE("a finished run writes its page, equal for any number of ranks; report writes it again") {
  const Place place;
  const Outcome trained = place.train("run", "--set train.mode=ensemble --set ensemble.members=2", 2).ends(0);
  REQUIRE(place.train("one", "--set train.mode=ensemble --set ensemble.members=2").code == 0);
  CHECK(bytes_of(place / "run/evaluation.json") == bytes_of(place / "one/evaluation.json"));

  if (place.run("report run").says("libjs-chart.js")) {  // built without the charts' library
    trained.once("warning: report.html was not written");
    CHECK_FALSE(fs::exists(place / "run/report.html"));
    return;
  }
  const std::string page = bytes_of(place / "run/report.html");
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(page.ends_with("</html>\n"));
  for (const char* what : {"Worst mistakes", "(Grad-CAM, mean over the members)", "Calibration", "member 1",
                           "mpirun -n 2 convoke train run/recipe.toml"}) {
    CAPTURE(what);
    CHECK_THAT(page, Contains(what));
  }
  CHECK(place.run("report run --output again.html").code == 0);
  CHECK(bytes_of(place / "again.html") == page);

  place.run("report run --output plain.html --figures plain", "PATH=/nowhere").ends(0).shows("gnuplot-nox");
  CHECK_THAT(bytes_of(place / "plain.html"), Contains("Worst mistakes"));
  CHECK_FALSE(fs::exists(place / "plain/loss.svg"));

  place.run("report one run --output both.html --figures paper").ends(0).shows("both.html: ");
  CHECK_THAT(bytes_of(place / "both.html"), Contains("2 runs compared"));
  CHECK(fs::exists(place / "paper/speed-up.csv"));
  CHECK(place.run("report run --output one.html --figures pictures").code == 0);
  CHECK(bytes_of(place / "pictures/worst-mistakes-1.png").starts_with("\x89PNG"));
}

TEST_CASE("the page of an ensemble on MNIST has less than 1 MB, whatever its mistakes") {
  const Place place;
  write_dataset(place / "digits.h5", 2000, 28, 10, 10000);  // noisy pictures, which compress worse
  write_file(place / "digits.toml", R"(name = "digits"
[data]
path = "digits.h5"
[model]
input = [1, 28, 28]
layers = [{ layer = "flatten" }, { layer = "dense", units = 10, activation = "softmax" }]
[train]
mode = "ensemble"
epochs = 5
optimizer = { name = "sgd", learning_rate = 0.00001 }
[ensemble]
members = 8
)");
  place.run("train digits.toml --quiet --output run", mpirun(2)).ends(0);
  if (!fs::exists(place / "run/report.html")) return;  // built without the charts' library
  CHECK_THAT(bytes_of(place / "run/report.html"), Contains("Worst mistakes"));
  CHECK(fs::file_size(place / "run/report.html") < 1000000);
}

TEST_CASE("report writes the page of a study, and of a table of times") {
  const Place place;
  write_file(
      place / "study/measurements.csv",
      "system,mode,ranks,makespan_seconds\nnet,sync,1,10\nnet,sync,1,10.2\nnet,sync,2,5.5\nnet,sync,2,5.6\n");
  const Outcome written = place.run("report study");
  if (written.says("libjs-chart.js")) return;  // built without the charts' library
  CAPTURE(written.text);
  CHECK(written.code == 0);
  const std::string page = bytes_of(place / "study/report.html");
  CHECK_THAT(page, Contains("Predicted makespan"));
  CHECK(place.run("report study/measurements.csv --output times.html").code == 0);
  CHECK_THAT(bytes_of(place / "times.html"), Contains("<h1>measurements.csv</h1>"));
  CHECK(place.run("study analyze study/measurements.csv --html analyzed.html").code == 0);
  CHECK_THAT(bytes_of(place / "analyzed.html"), Contains("Speed-up by workers"));
  write_file(place / "study/measurements.csv", "system,mode,rank\nnet,sync,1\n");
  place.run("report study").ends(1).shows("measurements.csv");
}

TEST_CASE("several studies are analyzed as one, whose page names the sources of its times") {
  const Place place;
  const std::string header = "system,mode,ranks,makespan_seconds\n";
  for (const auto& [folder, rows] :
       {std::pair("first", "net,sync,1,10\nnet,sync,2,6\n"), {"second", "net,sync,1,12\nnet,sync,4,3\n"}}) {
    fs::create_directories(place / folder / "runs/1");
    write_file(place / folder / "measurements.csv", header + rows);
    write_file(place / folder / "study.toml", std::string("name = \"") + folder + "\"\n");
  }
  write_file(place / "first/runs/1/environment.json", R"({"cpu": "processor A", "cores": 2, "nodes": 1})");
  write_file(place / "second/runs/1/environment.json", R"({"cpu": "processor B", "cores": 4, "nodes": 1})");
  write_file(place / "more.csv", header + "net,sync,4,3.5\n");
  const Outcome written = place.run("report first second more.csv --output all.html");
  if (written.says("libjs-chart.js")) return;  // built without the charts' library
  CAPTURE(written.text);
  CHECK(written.code == 0);
  const std::string page = bytes_of(place / "all.html");
  for (const char* part :
       {"<h1>first, second, more.csv</h1>", "Study of 3 configurations",
        "first/measurements.csv (2 rows, on processor A)", "second/measurements.csv (2 rows, on processor B)",
        "more.csv (1 row)", "convoke study first/study.toml", "convoke study second/study.toml",
        "name = &quot;second&quot;"}) {
    CAPTURE(part);
    CHECK_THAT(page, Contains(part));
  }
  CHECK_THAT(page, !Contains("<th scope=row>Processor</th>"));  // there are two processors

  // The same as `study analyze` finds in all of them: 11 s on one rank, 3.25 s on four.
  CHECK(place.run("report first second more.csv --output all.html --figures all").code == 0);
  CHECK(place
            .run("study analyze first/measurements.csv second/measurements.csv more.csv --up-to 16 --figures "
                 "analyzed")
            .code == 0);
  const std::string times = bytes_of(place / "all/configurations.csv");
  CHECK_THAT(times, Contains("11"));
  CHECK_THAT(times, Contains("3.25"));
  CHECK(bytes_of(place / "analyzed/configurations.csv") == times);

  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  for (const auto& [named, message] :
       {std::pair("first run", "first is a study, run is a run: they cannot share a page"),
        {"run second/measurements.csv", "second/measurements.csv is a study, run is a run"},
        {"first second first/measurements.csv", "first/measurements.csv: is passed twice"}}) {
    CAPTURE(named);
    place.run(std::string("report ") + named).ends(1).shows(message).shows("hint: pass ");
  }
}

TEST_CASE("a page that is disabled or cannot be written does not fail the run") {
  const Place place;
  REQUIRE(place.train("plain", "--set run.report=false --set train.epochs=1").code == 0);
  CHECK_FALSE(fs::exists(place / "plain/report.html"));
  CHECK(fs::exists(place / "plain/evaluation.json"));

  // A nonempty folder has the name of the page.
  fs::create_directories(place / "taken");
  REQUIRE(place.train("taken", "--set train.epochs=1").code == 0);
  fs::remove(place / "taken/report.html");
  fs::create_directories(place / "taken/report.html/in-the-way");
  place.train("taken", "--resume --set train.epochs=2").ends(0).once("warning: report.html was not written");

  place.refuses("report", "runs is required");
  if (place.run("report plain").says("libjs-chart.js")) return;
  place.refuses("report nowhere", "nowhere: is not a run folder");
  place.refuses("report plain nowhere", "nowhere: is not a run folder");
  place.refuses("report plain --output no/such/page.html", "no/such/page.html: cannot be written");
  place.refuses("report taken", "is a folder");

  // The page of a stopped run shows its results so far.
  fs::remove(place / "plain/summary.json");
  fs::remove(place / "plain/evaluation.json");
  CHECK(place.run("report plain").code == 0);
  CHECK_THAT(bytes_of(place / "plain/report.html"), Contains("This run is not complete"));
  write_file(place / "plain/summary.json", "{\"ranks\": ");
  place.refuses("report plain", "plain/summary.json");
}

TEST_CASE("a page replaces only a page") {
  const Place place;
  write_file(place / "study/measurements.csv", "ranks,makespan_seconds\n1,10\n2,5.5\n");
  if (place.run("report study").says("libjs-chart.js")) return;  // built without the charts' library
  const std::string table = bytes_of(place / "study/measurements.csv"), data = bytes_of(place / "data.h5");
  write_file(place / "other.html", "<html><p>of another program");
  write_file(place / "empty.html", "");
  write_file(place / "notes.html", "To do: write a page.");
  fs::create_symlink("data.h5", place / "link.html");
  fs::create_symlink("/dev/full", place / "full.html");

  const auto refused = [&](const std::string& command, const std::string& file, const std::string& reason) {
    CAPTURE(command, file);
    place.run(command + " " + file).ends(1).shows(file + ": " + reason).shows("hint: name a");
  };
  for (const char* command :
       {"report study --output", "study analyze study/measurements.csv --html", "inspect data.h5 --html"}) {
    for (const char* file : {"data.h5", "study/measurements.csv", "notes.html", "link.html"}) {
      refused(command, file, "exists, and is not a page");
    }
    for (const char* device : {"/dev/full", "/dev/null", "full.html"})
      refused(command, device, "is a device");
    refused(command, "study", "is a folder");
  }
  CHECK(bytes_of(place / "data.h5") == data);
  CHECK(bytes_of(place / "study/measurements.csv") == table);
  CHECK(fs::is_character_file("/dev/full"));
  for (const char* page : {"study/report.html", "other.html", "empty.html", "new.html"}) {
    CAPTURE(page);
    CHECK(place.run(std::string("report study --output ") + page).code == 0);
    CHECK(bytes_of(place / page).starts_with("<!DOCTYPE html>"));
  }

  // A run's page does not replace another file of that name.
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  write_file(place / "run/report.html", "notes");
  place.train("run", "--resume --set train.epochs=2").ends(0).once("warning: report.html was not written");
  CHECK(bytes_of(place / "run/report.html") == "notes");
}

TEST_CASE("JSON and CSV are not written over devices either") {
  const Place place;
  write_file(place / "times.csv", "ranks,makespan_seconds\n1,10\n2,5.5\n");
  fs::create_symlink("/dev/full", place / "full.csv");
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  for (const char* command :
       {"study analyze times.csv --output /dev/full", "predict run data.h5 --output full.csv"}) {
    CAPTURE(command);
    place.run(command).ends(1).shows(": is a device");
  }
  CHECK(fs::is_character_file("/dev/full"));
  CHECK(fs::is_symlink(fs::symlink_status(place / "full.csv")));
}

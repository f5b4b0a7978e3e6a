// `convoke study analyze` on published tables: which figures follow from the others, and which do not.
#include "apps/place.hpp"
#include "convoke/metrics/json.hpp"
#include "support/catch.hpp"
#include "support/source_path.hpp"

namespace {

Outcome analyze(const std::string& arguments) { return shell(binary() + " study analyze " + arguments); }

std::string published(const std::string& name) { return source_path("docs/results/published/" + name); }

}  // namespace

TEST_CASE("study analyze derives the papers' columns again, and reports the wrong ones") {
  const Outcome ddp = analyze(published("mnist-ddp.csv")).ends(0);
  CAPTURE(ddp.text);
  ddp.shows("73.62")
      .shows("WRONG: scaling_percent of PyTorch, data parallel, 2 ranks 48.5 is printed")
      .shows("WRONG: scaling_percent of PyTorch, distributed data parallel, 2 ranks 184.88 is printed");
  CHECK(ddp.times("WRONG: scaling_percent") == 2);

  const TemporaryFolder folder;
  const fs::path json = folder / "analysis.json";
  const Outcome birds =
      analyze(published("birds-tpu-epoch-seconds.csv") + " " + published("birds-tpu-derived.csv") +
              " --machine-devices 8 --up-to 16 --output " + json.string())
          .ends(0);
  CAPTURE(birds.text);
  birds.once("WRONG").shows("divided by 8 in every row");
  CHECK(birds.says("1         0.1250  0.1683  0.1949  0.2279"));  // the last line of the TPU paper's table 8
  const convoke::Settings stored = convoke::metrics::settings_from_json(bytes_of(json), "analysis.json");
  CHECK(std::get<convoke::Value::Array>(stored.find("configurations")->data()).size() == 16);
  CHECK(std::get<convoke::Value::Array>(stored.find("checks")->data()).size() == 32);

  const Outcome cost = analyze(published("thesis-cost.csv") + " --json --machines " +
                               source_path("apps/studies/thesis-prices.toml"))
                           .ends(0);
  const convoke::Settings printed = convoke::metrics::settings_from_json(cost.text, "output");
  CHECK(std::get<convoke::Value::Array>(printed.find("costs")->data()).size() == 12);
}

TEST_CASE("a study is named by its folder") {
  const Files place;
  fs::create_directories(place / "first");
  place.refuses("study analyze first", "first: is not a study folder: it has no study.toml");
  write_file(place / "first/study.toml", "recipe = \"mnist-sync\"\n");
  place.refuses("study analyze first", "no run of this study has ended yet");
  write_file(place / "first/measurements.csv", "ranks,seconds\n1,10\n2,6.25\n");
  for (const char* command : {"analyze first", "analyze first/", "table first --show makespan_seconds"})
    place.run(std::string("study ") + command).ends(0).shows("6.25");
  write_file(place / "second.csv", "ranks,seconds\n1,11\n2,6.5\n");
  place.run("study analyze second.csv --again first").ends(0).shows("repetition: ");
  for (const char* other : {"--again second.csv --output second.csv", "--machines m.toml --output m.toml"}) {
    write_file(place / "m.toml", "");
    place.refuses(std::string("study analyze first ") + other, "is also read, and would be replaced");
  }
}

TEST_CASE("study analyze refuses invalid tables, and leaves no files") {
  const TemporaryFolder folder;
  const std::string csv = (folder / "times.csv").string();
  const std::string output = " --output " + (folder / "analysis.json").string();
  for (const auto& [text, message] :
       {std::pair{"ranks,makespan_second\n1,2\n", "did you mean \"makespan_seconds\"?"},
        {"ranks,mode\n1,sync\n", "has no column of times"},
        {"ranks,seconds\n1,\n2,fast\n", "times.csv:3: column \"seconds\" is \"fast\""}}) {
    write_file(csv, text);
    const Outcome outcome = analyze(csv + output);
    CAPTURE(outcome.text);
    CHECK(outcome.code != 0);
    CHECK(outcome.says(message));
    CHECK_FALSE(fs::exists(folder / "analysis.json"));
  }
  write_file(csv, "ranks,seconds\n1,10\n2,6\n");
  CHECK(analyze(csv + " --deadline soon").code != 0);
  CHECK(analyze(csv + " --reference ours").code != 0);  // no machines are given
  analyze(csv).ends(0).shows("2 of 2 configurations have one row only: no interval");
  CHECK(analyze((folder / "none.csv").string()).says("none.csv: cannot be opened"));
}

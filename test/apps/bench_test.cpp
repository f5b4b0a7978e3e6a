// The measurements of `convoke bench`. No test asserts a time.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>

#include "apps/place.hpp"
#include "convoke/metrics/json.hpp"
#include "support/catch.hpp"
#include "support/source_path.hpp"

TEST_CASE("bench --inference prints rate and latencies for each batch") {
  const Place place;
  const std::string bench = "bench --inference recipe.toml --seconds 0.01 --rounds 2 --set run.threads=1";
  const Outcome outcome = place.run(bench + " --batch 1 3 --json").ends(0);
  const convoke::Settings result = convoke::metrics::settings_from_json(outcome.text, "bench");
  const auto& rows = std::get<convoke::Value::Array>(result.find("inference")->data());
  REQUIRE(rows.size() == 2);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const auto number = [&](const char* key) { return std::get<double>(rows[i].table()->find(key)->data()); };
    const std::int64_t batch = i == 0 ? 1 : 3;
    CHECK(rows[i].table()->find("batch")->data() == convoke::Value(batch).data());
    CHECK(number("latency_p50_milliseconds") > 0);
    CHECK(number("latency_p99_milliseconds") >= number("latency_p50_milliseconds"));
    CHECK(number("images_per_second_best") >= number("images_per_second_worst"));
    CHECK(number("bound_images_per_second") > 0);
  }
  place.run(bench + " --profile").ends(0).shows("p50 ms").shows("of bound");
  CHECK(place.run("bench recipe.toml --batch 4").code != 0);
  CHECK(place.run("bench --inference recipe.toml --trace steps.json").code != 0);
}

TEST_CASE("bench --beside alternates with busy programs, which end with it") {
  const Place place;
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);  // orphans of the program become children of this process
  const std::string bench = "bench recipe.toml --seconds 0.05 --rounds 2 --beside 2";
  const Outcome outcome = place.run(bench + " --json");
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  CAPTURE(outcome.text);
  REQUIRE(outcome.code == 0);
  const convoke::Settings result = convoke::metrics::settings_from_json(outcome.text, "bench");
  CHECK(std::get<std::int64_t>(result.find("busy_programs")->data()) == 2);
  CHECK(std::get<double>(result.find("images_per_second_beside")->data()) > 0);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
  CHECK(place.run(bench).says("beside 2 busy"));
  CHECK(place.run("bench --data recipe.toml --beside 1").code != 0);
}

TEST_CASE("against.sh names what a new program does slower, after it has measured it again") {
  const TemporaryFolder folder;
  const auto write_bench = [&](const std::string& name, const std::string& lines) {
    write_script(folder / name, "rate=1000\n" + lines + "echo \"{\\\"images_per_second\\\":$rate}\"\n");
  };
  write_script(folder / "mpirun", "shift 2\nexec \"$@\"\n");
  write_bench("old", "");
  write_bench("alike", "rate=960\n");
  write_bench("slow", "case $* in *resnet50*|*exact*) rate=940;; esac\n");
  // A program that another one disturbs in the first three turns.
  write_bench("disturbed", "echo >> turns\n[ $(wc -l < turns) -gt 3 ] || rate=500\n");
  write_script(folder / "silent", "");
  const auto against = [&](const std::string& program, const std::string& cases = "") {
    return shell("cd " + folder.path().string() + " && PATH=$PWD:$PATH ROUNDS=2 " +
                 source_path("apps/bench/against.sh") + " ./old ./" + program + " " + cases);
  };
  const Outcome alike = against("alike").ends(0);
  CAPTURE(alike.text);
  CHECK(alike.times(" 0.960   (0.960 to 0.960, 2 turns)\n") == 7);  // one for each case
  const Outcome slow = against("slow").ends(1);
  CAPTURE(slow.text);
  CHECK(slow.times(" 0.940   (0.940 to 0.940, 4 turns)\n") == 2);
  CHECK(slow.says("slower than 0.95 of ./old: resnet50 (0.94) exchange-exact (0.94)\n"));
  against("disturbed", "93k-cnn").ends(0).shows(" 0.500   (0.500 to 0.500, 2 turns)\n");
  against("silent", "905k-cnn").ends(2).shows("error: no rate from: ./silent bench mnist-ddp");
  CHECK(against("old", "resnet").code == 2);
  CHECK(against("missing").code == 2);
}

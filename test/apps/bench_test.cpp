// The measurements of `convoke bench`. No test asserts a time.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>

#include "apps/place.hpp"
#include "convoke/metrics/json.hpp"
#include "support/catch.hpp"

TEST_CASE("bench --inference prints rate and latencies for each batch") {
  const Place place;
  const std::string bench = "bench --inference recipe.toml --seconds 0.01 --rounds 2 --set run.threads=1";
  const Outcome outcome = place.run(bench + " --batch 1 3 --json");
  CAPTURE(outcome.text);
  REQUIRE(outcome.code == 0);
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
  const Outcome table = place.run(bench + " --profile");
  CAPTURE(table.text);
  CHECK(table.code == 0);
  CHECK(table.says("p50 ms"));
  CHECK(table.says("of bound"));
  CHECK(place.run("bench recipe.toml --batch 4").code != 0);
  CHECK(place.run("bench --inference recipe.toml --trace steps.json").code != 0);
}

TEST_CASE("bench --beside measures in turns with busy programs, which end with it") {
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

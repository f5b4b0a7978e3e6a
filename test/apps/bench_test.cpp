// The measurements of `convoke bench`. No test asserts a time.
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

#include "convoke/engine/busy_workers.hpp"

#include "convoke/engine/step_engine.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"

using namespace convoke::engine;

namespace {

// Slow: gives the micro-batches one by one to the worker with fewest.
double busy_by_dealing(std::int64_t micro_batches, std::int64_t workers) {
  std::vector<std::int64_t> each(static_cast<std::size_t>(workers));
  for (std::int64_t micro_batch = 0; micro_batch < micro_batches; ++micro_batch)
    ++*std::min_element(each.begin(), each.end());
  return static_cast<double>(micro_batches) /
         static_cast<double>(*std::max_element(each.begin(), each.end()));
}

std::int64_t number(const std::string& setting, const std::string& key, std::int64_t otherwise) {
  const Match match = first_match(setting, key + "=([0-9]+)");
  return match.empty() ? otherwise : std::stoll(match[1]);
}

}  // namespace

TEST_CASE("the workers that micro-batches keep busy") {
  for (const std::int64_t micro_batches : {1, 7, 8, 64, 100}) {
    for (const std::int64_t workers : {1, 2, 3, 8, 48, 64, 128}) {
      CHECK(busy_workers(micro_batches, workers) == Approx(busy_by_dealing(micro_batches, workers)));
    }
  }
}

TEST_CASE("a setting for all workers: one micro-batch for each, or the same number") {
  CHECK(setting_for_workers(64, 8, 8).empty());
  CHECK(setting_for_workers(64, 8, 2).empty());
  CHECK(setting_for_workers(64, 8, 16) == "train.batch=128 with train.reference_batch=64");
  CHECK(setting_for_workers(64, 8, 64) == "train.batch=512 with train.reference_batch=64");
  CHECK(setting_for_workers(2048, 32, 128) == "train.micro_batch=16");
  CHECK(setting_for_workers(1536, 24, 48) == "train.micro_batch=16");
  CHECK(setting_for_workers(64, 8, 128) ==
        "train.batch=1024 and train.micro_batch=8 with train.reference_batch=64");
  for (const std::int64_t batch : {1, 32, 64, 100, 250, 512, 1000, 1024, 2048, 4096}) {
    for (const std::int64_t workers : {1, 2, 3, 6, 7, 12, 16, 24, 40, 48, 64, 96, 100, 128}) {
      const std::int64_t micro_batch = auto_micro_batch(batch);
      const std::string setting = setting_for_workers(batch, micro_batch, workers);
      CAPTURE(batch, workers, setting);
      const std::int64_t larger = number(setting, "train.batch", batch);
      const std::int64_t other = number(setting, "train.micro_batch", micro_batch);  // it may be stated
      CHECK(larger % other == 0);
      CHECK(busy_workers(larger / other, workers) == static_cast<double>(workers));
      if (!setting.empty()) CHECK(other >= 8);
      CHECK(larger <= 2 * std::max(batch, 8 * workers));
    }
  }
}

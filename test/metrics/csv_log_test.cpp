#include "convoke/metrics/run_log.hpp"

#include "convoke/core/lookup.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke;
using convoke::metrics::CsvLog;

namespace {

const std::string kHeader =
    "event,member,epoch,step,loss,accuracy,validation_loss,validation_accuracy,learning_rate,images_per_second,seconds\n";

}  // namespace

TEST_CASE("metrics.csv has a line for each record with a loss, and empty cells for missing values") {
  const TemporaryFolder place;
  CsvLog log(place / "metrics.csv");
  log.append({{"event", "epoch"},
              {"member", 0},
              {"epoch", 1},
              {"epochs", 5},
              {"step", 12},
              {"loss", 0.5},
              {"accuracy", 0.25}});
  log.append({{"event", "validation"}, {"member", 1}, {"step", 20}, {"validation_loss", 1e-7}});
  log.append({{"event", "evaluation"}, {"disagreement", 0.5}});
  CHECK(bytes_of(place / "metrics.csv") ==
        kHeader + "epoch,0,1,12,0.5,0.25,,,,,\nvalidation,1,,20,,,1e-07,,,,\n");
}

TEST_CASE("metrics.csv is continued after an interrupted run") {
  const TemporaryFolder place;
  const auto file = place / "metrics.csv";
  std::ofstream(file) << kHeader << "epoch,0,1,12,0.5,0.25,,,,,\nepoch,0,2,24,0.";
  CsvLog(file).append({{"event", "epoch"}, {"loss", 0.25}});
  CHECK(bytes_of(file) == kHeader + "epoch,0,1,12,0.5,0.25,,,,,\nepoch,,,,0.25,,,,,,\n");
}

TEST_CASE("lines of metrics.csv are removed by member and step, and it grows on") {
  const TemporaryFolder place;
  const auto file = place / "metrics.csv";
  const std::string first = "epoch,0,1,12,0.5,0.25,,,,,\n", other = "validation,1,2,24,,,0.5,,,,\n";
  std::ofstream(file) << kHeader << first << "epoch,0,2,24,0.5,0.25,,,,,\n" << other;
  CsvLog log(file);
  log.remove_if([](const Settings& line) {
    return count_at(line, "member") == 0 && count_at(line, "step").value_or(0) > 12;
  });
  log.append({{"event", "epoch"}, {"loss", 0.25}});
  CHECK(bytes_of(file) == kHeader + first + other + "epoch,,,,0.25,,,,,,\n");
}

TEST_CASE("metrics.csv with other columns is refused and not changed") {
  const TemporaryFolder place;
  const auto file = place / "metrics.csv";
  std::ofstream(file) << "a,b\n1,2\n";
  CHECK_THAT(error_of([&] { CsvLog log(file); }), Contains("metrics.csv: its columns are not"));
  CHECK(bytes_of(file) == "a,b\n1,2\n");
}

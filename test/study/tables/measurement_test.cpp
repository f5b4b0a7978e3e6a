#include "convoke/study/tables/measurement.hpp"

#include <iterator>

#include "convoke/study/tables/measurement.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke::study;

namespace {

Measurement full() {
  Measurement m;
  m.system = "a \"quoted\", name";
  m.mode = "sync";
  m.ranks = 4;
  m.threads = 2;
  m.fraction = 0.125;
  m.batch = "weak";
  m.variant = "train.micro_batch=8 train.precision=bf16";
  m.repeat = 3;
  m.makespan_seconds = 0.1 + 0.2;
  m.epoch_seconds = 1.0 / 3;
  m.accuracy = 0.9861;
  m.training_accuracy = 0.99;
  m.validation_accuracy = 0.985;
  m.f1 = 0.9860;
  m.quadratic_kappa = -0.25;
  m.roc_auc = 0.9999;
  m.test_seconds = 0.5;
  m.joules = 0;
  m.launch_seconds = 0.75;
  m.epochs = 5;
  m.dataset_hash = "crc32:13a47ca1";
  m.machine = "AMD EPYC 9B14, 2 cores, DDR5";
  m.started = "2026-01-02T03:04:05Z";
  m.marks = {"oversubscribed", "bindings differ"};
  return m;
}

struct Csv {
  TemporaryFolder folder;
  fs::path file = folder / "times.csv";
  explicit Csv(const std::string& text) { std::ofstream(file, std::ios::binary) << text; }
  std::string error() const {
    return error_of([&] { read_table(file); });
  }
};

}  // namespace

TEST_CASE("measurements are written and read back unchanged") {
  const TemporaryFolder folder;
  Measurement failed;
  failed.marks = {"failed"};
  write_measurements(folder / "m.csv", std::vector{full(), failed});
  CHECK(read_measurements(folder / "m.csv") == std::vector{full(), failed});
  CHECK(failed.has_mark("failed"));
  CHECK_FALSE(full().has_mark("failed"));
}

TEST_CASE("measurements are added line by line, and an incomplete line of a crash is removed") {
  const TemporaryFolder folder;
  append_measurement(folder / "m.csv", full());
  append_measurement(folder / "m.csv", full());
  std::ofstream(folder / "m.csv", std::ios::app) << "mnist,sync,1,";
  append_measurement(folder / "m.csv", full());
  CHECK(read_measurements(folder / "m.csv") == std::vector{full(), full(), full()});
  CHECK_THAT(error_of([&] { append_measurement(folder / "none/m.csv", full()); }),
             Contains("cannot be written"));
}

TEST_CASE("further numbers have columns, which a table gets when the first run has them") {
  const TemporaryFolder folder;
  Measurement one = full(), two = full();
  one.further = {{"test.ece", 0.0123}};
  two.further = {{"peak_rss_mib", 5e12}, {"test.q_statistic", -0.5}};
  const auto lines = [&] { return bytes_of(folder / "m.csv"); };
  append_measurement(folder / "m.csv", full());
  CHECK_THAT(lines(), !Contains("summary."));
  append_measurement(folder / "m.csv", one);
  CHECK_THAT(lines(), Contains(",marks,summary.test.ece\n"));
  append_measurement(folder / "m.csv", two);
  CHECK_THAT(lines(), Contains(",marks,summary.peak_rss_mib,summary.test.ece,summary.test.q_statistic\n"));
  append_measurement(folder / "m.csv", one);
  CHECK(read_measurements(folder / "m.csv") == std::vector{full(), one, two, one});
  write_measurements(folder / "m.csv", std::vector{two, full()});
  CHECK_THAT(lines(), Contains(",5000000000000,-0.5\n") && !Contains("test.ece"));
  CHECK(read_measurements(folder / "m.csv") == std::vector{two, full()});
}

TEST_CASE("something that is not a table is not overwritten") {
  const TemporaryFolder folder;  // a folder, because root can read any file
  CHECK_THAT(error_of([&] { append_measurement(folder.path(), full()); }), Contains("cannot be read"));
}

TEST_CASE("a table of a version with fewer columns and other names is continued") {
  const Csv csv(
      "system,mode,ranks,portion,makespan_seconds,marks\nnet,sync,2,0.5,1.5,as if; disturbed\nnet,sync,");
  append_measurement(csv.file, full());
  const auto all = read_measurements(csv.file);
  REQUIRE(all.size() == 2);
  CHECK(all[0].makespan_seconds == 1.5);
  CHECK(all[0].fraction == 0.5);
  CHECK(all[0].marks == std::vector<std::string>{"emulated", "contended"});
  CHECK(all[1] == full());
}

TEST_CASE("other people's columns are understood") {
  const Csv csv(
      "framework,machine,Mode,gpus,seconds_100_epochs,test_accuracy_percent,note,scaling_percent\n"
      "PyTorch,laptop,parallel,2,\"1751.16\",99.8,noisy,73.62\n"
      "PyTorch,,single,1,12.5e2,,,\n");
  const PublishedTable table = read_table(csv.file);
  REQUIRE(table.rows.size() == 2);
  const TableRow& row = table.rows[0];
  CHECK(row.measurement.system == "PyTorch");
  CHECK(row.measurement.machine == "laptop");
  CHECK(row.measurement.mode == "parallel");
  CHECK(row.measurement.ranks == 2);
  CHECK(row.measurement.epochs == 100);
  CHECK(row.measurement.makespan_seconds == 1751.16);
  CHECK(row.measurement.accuracy.value() == Approx(0.998));
  CHECK(row.printed.at("makespan_seconds").half_unit == Approx(0.005));
  CHECK(row.printed.at("accuracy").half_unit == Approx(0.0005));
  CHECK(row.printed.at("scaling_percent").value == 73.62);
  CHECK(row.where == csv.file.string() + ":2");
  CHECK(table.rows[1].printed.at("makespan_seconds").half_unit == Approx(5));
  CHECK_FALSE(table.rows[1].measurement.accuracy);
  CHECK_FALSE(table.rows[1].printed.contains("scaling_percent"));
  REQUIRE(table.notices.size() == 1);
  CHECK_THAT(table.notices[0], Contains("column \"note\" is not used"));
}

TEST_CASE("marks are read as the program prints them, and names in Windows-1252") {
  const Csv csv("system,seconds,marks\nB\xe4r,3,\"OVERSUBSCRIBED, Failed\"\nB\xf6r,3,\n");
  const PublishedTable table = read_table(csv.file);
  CHECK(table.rows.at(0).measurement.marks == std::vector<std::string>{"oversubscribed", "failed"});
  CHECK(table.rows[0].measurement.system == "Bär");
  CHECK(table.rows.at(1).measurement.system == "Bör");
}

TEST_CASE("scores of other tables are understood, with their names and percentages") {
  const Csv csv(
      "mode,seconds,train_accuracy_percent,val_accuracy,F1 "
      "score,kappa,AUC,summary.test.ece\nsync,3,99.5,0.98,0.975,-0.1,0.99,-0.5\n");
  const Measurement m = read_table(csv.file).rows.at(0).measurement;
  CHECK(m.training_accuracy.value() == Approx(0.995));
  CHECK(m.validation_accuracy == 0.98);
  CHECK(m.f1 == 0.975);
  CHECK(m.quadratic_kappa == -0.1);
  CHECK(m.roc_auc == 0.99);
  CHECK(m.further.at("test.ece") == -0.5);
}

TEST_CASE("a table may be separated by semicolons, and without a column of ranks their number is unknown") {
  CHECK(read_table(Csv("mode;seconds;ranks\nparallel;3.5;2\n").file).rows[0].measurement.makespan_seconds ==
        3.5);
  CHECK(read_table(Csv("mode,seconds\nparallel,3\n").file).rows[0].measurement.ranks == 0);
  CHECK(read_table(Csv("ranks,mode,seconds\n,parallel,3\n").file).rows[0].measurement.ranks == 0);
}

TEST_CASE("an invalid table is refused with its place") {
  const std::vector<std::pair<const char*, const char*>> refusals{
      {"ranks,makespan_second\n1,2\n",
       "times.csv:1: unknown column \"makespan_second\" (did you mean \"makespan_seconds\"?)"},
      {"ranks,makespan_seconds\n1,fast\n",
       "times.csv:2: column \"makespan_seconds\" is \"fast\": a number is expected"},
      {"ranks,makespan_seconds\n1,nan\n", "a number is expected"},
      {"ranks,makespan_seconds\n1,-2\n", "is -2: at least 0 is expected"},
      {"ranks,makespan_seconds\n1.5,2\n", "a whole number from 1 to 1,000,000,000 is expected"},
      {"ranks,makespan_seconds\n0,2\n", "a whole number from 1 to 1,000,000,000 is expected"},
      {"ranks,makespan_seconds\n1,0\n",
       "column \"makespan_seconds\" is 0: a time from 1e-09 s on is expected"},
      {"ranks,seconds\n99999999999,2\n", "a whole number from 1 to 1,000,000,000"},
      {"ranks,seconds\n1,1e300\n", "is 1e300: at most 1e+12 is expected"},
      {"fraction,seconds\n2,2\n", "above 0 and at most 1"},
      {"accuracy\n98.2\n", "at most 1 is expected"},
      {"val_accuracy\n98.2\n", "at most 1 is expected"},
      {"kappa\n-1.5\n", "a number from -1 to 1 is expected"},
      {"ranks,summary.test.ece\n1,low\n", "a number is expected"},
      {"ranks,seconds\n1\n", "times.csv:2: has 1 cells, the header 2"},
      {"cores,devices,seconds\n1,1,1\n", "columns \"cores\" and \"devices\" both mean ranks"},
      {"ranks,system\n1,a\n", "has no column of times"},
      {"ranks,seconds\n", "has a header but no rows"},
      {"", "is empty"},
  };
  for (const auto& [text, message] : refusals) {
    CAPTURE(text);
    CHECK_THAT(Csv(text).error(), Contains(message));
  }
  const Csv without("system,mode,makespan_seconds\na,sync,1\n");
  CHECK_THAT(error_of([&] { read_measurements(without.file); }), Contains("has no column \"ranks\""));
}

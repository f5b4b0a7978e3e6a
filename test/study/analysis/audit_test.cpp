#include "convoke/study/analysis/audit.hpp"

#include "rows.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"

using namespace convoke::study;

namespace {

std::vector<TableRow> rows_of(const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder / "times.csv") << text;
  return read_table(folder / "times.csv").rows;
}

std::int64_t count(const Audit& audit, Agreement agreement) {
  return std::ranges::count(audit.checks, agreement, &Check::agreement);
}

std::string all_findings(const Audit& audit) {
  std::string text;
  for (const AuditFinding& f : audit.findings)
    text += (f.wrong ? "WRONG " : "note ") + f.subject + " " + f.text + "\n";
  return text;
}

}  // namespace

TEST_CASE("birds-tpu: every figure follows, the efficiency from a constant 8") {
  std::vector<TableRow> rows = published("birds-tpu-epoch-seconds.csv").rows;
  const auto derived = published("birds-tpu-derived.csv").rows;
  // Without times, the efficiency follows from the printed speed-up; with times, from these too.
  for (const bool with_times : {false, true}) {
    std::vector<TableRow> table = with_times ? rows : std::vector<TableRow>{};
    table.insert(table.end(), derived.begin(), derived.end());
    const Audit result = audit(table);
    CHECK(result.checks.size() == (with_times ? 32 : 16));
    CHECK(count(result, Agreement::kPrinted) == (with_times ? 32 : 16));
    REQUIRE(result.findings.size() == 1);
    CHECK(result.findings[0].wrong);
    CHECK_THAT(result.findings[0].text, Contains("divided by 8 in every row"));
    CHECK_THAT(result.findings[0].text, Contains("0.6250 instead of 0.1563 for 2 ranks"));
  }
}

TEST_CASE("an efficiency by the usual definition is accepted, and any other constant is found") {
  CHECK(audit(rows_of("ranks,seconds,efficiency\n1,100,1\n2,60,0.83\n4,40,0.625\n")).findings.empty());
  CHECK_THAT(all_findings(audit(rows_of("ranks,speedup,efficiency\n1,1,0.0833\n2,1.5,0.125\n4,2,0.1667\n"))),
             Contains("divided by 12 in every row"));
  // Neither a constant nor the workers fit: it does not follow.
  const Audit wrong = audit(rows_of("ranks,speedup,efficiency\n1,1,1.00\n2,1.5,0.75\n4,2,0.90\n"));
  CHECK(count(wrong, Agreement::kDifferent) == 1);
  CHECK_THAT(all_findings(wrong), Contains("WRONG efficiency of 4 ranks 0.90 is printed"));
}

TEST_CASE("mnist-ddp: one scaling percentage follows, two do not, and one speed-up exceeds 2") {
  const Audit result = audit(published("mnist-ddp.csv").rows);
  REQUIRE(result.checks.size() == 3);
  CHECK(result.checks[0].agreement == Agreement::kPrinted);
  CHECK(result.checks[0].derived == Approx(73.62).margin(0.005));
  CHECK(result.checks[1].agreement == Agreement::kDifferent);
  CHECK(result.checks[1].derived == Approx(49.05).margin(0.01));
  CHECK(result.checks[2].derived == Approx(176.17).margin(0.01));
  const std::string text = all_findings(result);
  CHECK_THAT(text, Contains("WRONG scaling_percent of PyTorch, data parallel, 2 ranks 48.5 is printed"));
  CHECK_THAT(
      text,
      Contains("WRONG scaling_percent of PyTorch, distributed data parallel, 2 ranks 184.88 is printed, but "
               "100 T1 / (n Tn) of makespans gives 176.17"));
  CHECK_THAT(
      text,
      Contains("speed-up of PyTorch, distributed data parallel on 2 workers exceeds the number of workers"));
  CHECK(result.findings.size() == 3);
}

TEST_CASE("mnist-ensemble: decreases beyond the number of cores are found") {
  const Audit result = audit(published("mnist-ensemble-decrease.csv").rows);
  REQUIRE(result.findings.size() == 1);  // those of the first machine are possible
  CHECK_THAT(result.findings[0].subject, Contains("speed-up of 2 on 4, 5, 6, 7, 8, 10, 11 workers"));
  CHECK_THAT(result.findings[0].text, Contains("a mean over ranks?"));
}

TEST_CASE("mnist-ensemble: a mean over ranks is not a makespan") {
  const Audit result = audit(published("mnist-ensemble-repository-fit-seconds.csv").rows);
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].wrong);
  CHECK_THAT(result.findings[0].text,
             Contains("43.4 s, but the job ends with the slowest rank, after 57.2 s"));
  CHECK_THAT(result.findings[0].text, Contains("1.52 instead of 1.15"));
  // If both are equal, as on one rank, there is no error; a speed-up from means is named as such.
  const std::string means = "ranks,mean_seconds,seconds,speedup\n1,60,60,1\n4,20,30,3.00\n";
  CHECK_THAT(all_findings(audit(rows_of(means))),
             Contains("speedup is T1 / Tn of means over ranks in every row; T1 / Tn of "
                      "makespans gives 2.00 instead of 3.00 for 4 ranks"));
}

TEST_CASE("thesis: cost-efficiency follows from the printed costs, and preemption from no restarts") {
  std::ifstream file(source_path("docs/results/published/thesis-cost.csv"));
  std::string text, line;
  std::getline(file, line);
  text = line + ",cost_efficiency_percent\n";
  const std::vector<std::string> printed{"", "", "49.50", "", "", "84.91", "", "", "84.88"};
  for (std::size_t i = 0; std::getline(file, line); ++i) text += line + "," + printed.at(i) + "\n";
  const Audit result = audit(rows_of(text));
  REQUIRE(result.checks.size() == 3);
  CHECK(result.checks[0].agreement == Agreement::kRounding);  // 1 - 0.030 / 0.060
  CHECK(result.checks[1].agreement == Agreement::kPrinted);
  CHECK(result.checks[2].agreement == Agreement::kPrinted);
  REQUIRE(result.findings.size() == 3);
  for (const AuditFinding& finding : result.findings) {
    CHECK_FALSE(finding.wrong);
    CHECK_THAT(finding.text, Contains("it includes no restart"));
  }
}

TEST_CASE("tomato-leaf and a study's own measurements have no findings") {
  CHECK(audit(published("tomato-leaf.csv").rows).findings.empty());
  CHECK(audit(rows_of("system,mode,ranks,makespan_seconds\na,sync,1,10\na,sync,1,11\na,sync,2,6\n"))
            .findings.empty());
  // Each column has its own base: 3.85 times faster on 4 ranks than on one, not than on two.
  CHECK(audit(rows_of("ranks,makespan_seconds,epoch_seconds\n1,,10\n2,20,5.1\n4,11,2.6\n")).findings.empty());
  // With such scatter, a speed-up of 2.01 on 2 ranks does not differ significantly from 2; a speed-up of 3
  // does.
  const std::string head =
      "system,mode,ranks,makespan_seconds,marks\na,sync,1,10,\na,sync,1,10.2,\na,sync,1,10.1,\n";
  CHECK(audit(rows_of(head +
                      "a,sync,2,5,\na,sync,2,5.1,\na,sync,2,4.97,\na,sync,2,1,contended\na,sync,2,,failed\n"))
            .findings.empty());
  CHECK(audit(rows_of(head + "a,sync,2,3.3,\na,sync,2,3.4,\na,sync,2,3.35,\n")).findings.size() == 1);
}

TEST_CASE("a decrease is derived even if the table has no workers, and a cost from the price of an hour") {
  const Audit result =
      audit(rows_of("mode,seconds,decrease_percent\nsequential,200,\nparallel,150,25.0\nfast,100,60.0\n"));
  REQUIRE(result.checks.size() == 2);
  CHECK(result.checks[0].agreement == Agreement::kPrinted);
  CHECK(result.checks[1].agreement == Agreement::kDifferent);
  CHECK_THAT(all_findings(result),
             Contains("60.0 is printed, but 100 (1 - Tn / T1) of makespans gives 50.0"));
  const Audit cost =
      audit(rows_of("mode,seconds,price_per_hour,cost_per_training\na,3600,2,2.00\nb,1800,2,1.50\n"));
  REQUIRE(cost.checks.size() == 2);
  CHECK(cost.checks[0].agreement == Agreement::kPrinted);
  CHECK(cost.checks[1].agreement == Agreement::kDifferent);
}

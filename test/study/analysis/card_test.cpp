#include "convoke/study/analysis/card.hpp"

#include "rows.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke::study;

namespace {

/// Two tables and a card about them.
struct Folder {
  TemporaryFolder folder;

  explicit Folder(const std::string& card) {
    write("card.toml", card);
    write("published.csv", "devices,speedup,accuracy_percent\n2,1.9,98.5\n4,3.9,98.2\n8,6.0,97.1\n");
    // Speed-ups of 1.80 (1.728 to 1.876 by SciPy's t in Fieller's formula) and 3.00 (2.925 to 3.075).
    write(
        "ours.csv",
        "ranks,repeat,makespan_seconds,accuracy\n1,1,9.0,0.985\n1,2,9.1,0.984\n1,3,8.9,0.986\n2,1,5.0,0.975\n"
        "2,2,5.1,0.976\n2,3,4.9,0.974\n4,1,3.0,0.981\n4,2,3.01,0.983\n4,3,2.99,0.982\n8,1,1.5,0.97\n");
  }

  void write(const std::string& file, const std::string& text) const { std::ofstream(folder / file) << text; }

  std::vector<std::vector<std::string>> rows() const { return table_of(read_card(folder.path())).rows; }
  std::string verdict() const { return read_card(folder.path()).verdict(); }
};

std::string claim(const std::string& quantity, const std::string& more = "", bool measured = true) {
  return "[[claim]]\nname = \"" + quantity + "\"\nquantity = \"" + quantity +
         "\"\npublished = \"published.csv\"\n" + (measured ? "ours = [\"ours.csv\"]\n" : "") + more + "\n";
}

std::vector<std::string> column(const std::vector<std::vector<std::string>>& rows, std::size_t c) {
  std::vector<std::string> cells;
  for (const std::vector<std::string>& row : rows) cells.push_back(row[c]);
  return cells;
}

}  // namespace

TEST_CASE("an interval decides what is followed, contradicted and out of reach") {
  const auto rows = Folder(claim("speedup")).rows();
  CHECK(column(rows, 1) == std::vector<std::string>{"2 workers", "4 workers", "8 workers"});
  CHECK(column(rows, 2) == std::vector<std::string>{"1.9", "3.9", "6.0"});
  CHECK(column(rows, 4) == std::vector<std::string>{"followed", "contradicted", "out of reach"});
  CHECK(column(rows, 5) ==
        std::vector<std::string>{"ours contains it", "ours is below", "one run has no interval"});
  CHECK(rows[0][3] == "1.80 (1.73 to 1.88)");
  // A score: percent on both sides, and a printed 98.2 is any number from 98.15 to 98.25.
  CHECK(column(Folder(claim("accuracy")).rows(), 4) ==
        std::vector<std::string>{"contradicted", "followed", "out of reach"});
}

TEST_CASE("a claim of at least a value is also followed by more") {
  const auto with = [](const char* kind) {
    Folder folder(claim("speedup", std::string("claim = \"") + kind + "\""));
    folder.write("published.csv", "devices,speedup\n2,1.5\n4,3.9\n");
    return column(folder.rows(), 4);
  };
  CHECK(with("equal") == std::vector<std::string>{"contradicted", "contradicted"});
  CHECK(with("at least") == std::vector<std::string>{"followed", "contradicted"});
  CHECK(with("at most") == std::vector<std::string>{"contradicted", "followed"});
}

TEST_CASE("a published ratio is computed from printed times, and may be any that rounds to them") {
  Folder folder(claim("speedup"));
  // 31 / 18 is 1.722, below our 1.728, but 31.4 / 17.6 is not.
  folder.write("published.csv", "devices,epoch_seconds\n1,31\n2,18\n");
  CHECK(folder.rows().size() == 1);  // one device is the base
  CHECK(folder.rows().front()[2] == "1.72");
  CHECK(folder.rows().front()[4] == "followed");
  folder.write("published.csv", "devices,epoch_seconds\n1,31.00\n2,18.00\n");
  CHECK(folder.rows().front()[4] == "contradicted");
}

TEST_CASE("several published values of one place are a range") {
  Folder folder(claim("accuracy"));
  folder.write("published.csv", "system,ranks,accuracy_percent\nlow,2,97.3\nhigh,2,98.0\n");
  CHECK(folder.rows().front()[2] == "97.3 to 98.0 %");
  CHECK(folder.rows().front()[4] == "followed");
}

TEST_CASE("times that are not reliable decide nothing, but scores do") {
  Folder folder(claim("speedup") + claim("accuracy"));
  folder.write("ours.csv",
               "ranks,repeat,makespan_seconds,accuracy,marks\n1,1,9.0,0.985,\n1,2,9.1,0.985,\n2,1,2.0,0.985,"
               "oversubscribed\n2,2,2.0,0.985,oversubscribed\n");
  const auto rows = folder.rows();
  CHECK(rows[0][4] == "out of reach");
  CHECK(rows[0][5] == "oversubscribed");
  CHECK_THAT(rows[0][3], Contains("OVERSUBSCRIBED"));
  CHECK(rows[3][4] == "followed");
}

TEST_CASE("the verdict of a system is that of its main claims") {
  const std::string main = "main = true", other = "main = true\nother_data = true";
  const std::string right = "by = [\"workers\"]\npublished_only = [\"workers=4\"]\n";
  const std::string wrong = "by = [\"workers\"]\npublished_only = [\"workers=2\"]\n";
  CHECK(Folder(claim("accuracy", right + main)).verdict() == "reproduced");
  CHECK(Folder(claim("accuracy", right + other)).verdict() == "reproduced on other data");
  CHECK(Folder(claim("accuracy", wrong + main)).verdict() == "contradicted");
  CHECK(Folder(claim("accuracy", wrong + other)).verdict() == "not reproduced");
  CHECK(Folder(claim("accuracy", right + main) + claim("speedup", main, false)).verdict() ==
        "not reproduced");
  CHECK(Folder(claim("accuracy", right + main) + claim("accuracy", wrong)).verdict() == "reproduced");
  CHECK(Folder(claim("accuracy", right) + claim("accuracy", wrong)).verdict() == "contradicted");
  const Card card =
      read_card(Folder("paper = 7\nreason = \"why\"\n" + claim("accuracy", right + main)).folder.path());
  CHECK(overview(std::span(&card, 1), true).rows.front() ==
        std::vector<std::string>{card.system + " [7]", "**reproduced**: why", "1 followed",
                                 "accuracy, 4 workers: 98.2 %", "98.20 ± 0.25 %"});
}

TEST_CASE("times of another column than the makespan, which is what the MPI-ensemble paper has") {
  Folder folder(claim("decrease_percent", "seconds = \"summary.steps\""));
  folder.write("published.csv", "ranks,decrease_percent\n2,75.0\n");
  folder.write("ours.csv",
               "ranks,repeat,makespan_seconds,summary.steps\n1,1,9,4\n1,2,9,4\n2,1,9,1\n2,2,9,1\n");
  CHECK(folder.rows().front()[3] == "75.0 (75.0 to 75.0) %");
  CHECK(folder.rows().front()[4] == "followed");
  Folder epochs(claim("decrease_percent", "seconds = \"epoch_seconds\""));
  epochs.write("published.csv", "ranks,decrease_percent\n2,75.0\n");
  epochs.write("ours.csv",
               "ranks,repeat,makespan_seconds,epoch_seconds\n1,1,9,4\n1,2,9,4\n2,1,9,1\n2,2,9,1\n");
  CHECK(epochs.rows().front()[4] == "followed");
}

TEST_CASE("errors of a card name its file and line") {
  const auto error = [](const std::string& toml) { return error_of([&] { Folder(toml).rows(); }); };
  CHECK_THAT(error_of([] { read_card("no-such-folder"); }), Contains("card.toml: cannot be read"));
  CHECK_THAT(error("paper = 1\n"), Contains("card.toml: has no [[claim]]"));
  CHECK_THAT(error("[[claim]]\nname = \"x\"\n"), Contains("card.toml:1") && Contains("quantity"));
  CHECK_THAT(error(claim("speedup", "clam = \"equal\"")), Contains("card.toml:6") && Contains("claim"));
  CHECK_THAT(error(claim("speedup", "claim = \"equals\"")), Contains("card.toml:6") && Contains("equals"));
  CHECK_THAT(error(claim("f1")), Contains("card.toml:1") && Contains("no configuration of published.csv"));
  CHECK_THAT(error(claim("speedup", "by = [\"workers\", \"colour\"]")),
             Contains("\"colour\" is not a coordinate"));
  CHECK_THAT(error(claim("accuracy", "by = []")),
             Contains("two configurations of ours are compared with one"));
  CHECK_THAT(error(claim("speedup", "only = [\"mode=ensemble\"]")), Contains("no such configuration"));
  CHECK_THAT(error(claim("speedup", "seconds = \"summary.none\"")), Contains("summary.none"));
}

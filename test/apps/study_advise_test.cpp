// `convoke study advise`: the cheapest machine of the thesis' tables, and why the others lose.
#include "apps/place.hpp"
#include "convoke/metrics/json.hpp"
#include "support/catch.hpp"
#include "support/source_path.hpp"

namespace {

struct Table : Files {
  Table() {
    // The thesis' retinopathy: table 6.2 of costs, and accuracies of TPU and GPU.
    write_file(folder / "t.csv",
               "system,mode,dollars_per_hour,dollars_per_training,accuracy_percent\n"
               "IC-DR,local cluster,2.85,3.44,81.59\nIC-DR,TPUv3-8,8.00,1.72,85.45\n");
  }
  Outcome advise(const std::string& arguments) const {
    return run("study advise t.csv --machines " + source_path("apps/studies/thesis-prices.toml ") +
               arguments);
  }
};

}  // namespace

TEST_CASE("study advise names the cheapest machine, and why others lose") {
  const Table table;
  table.advise("--deadline 2h --accuracy 0.8")
      .ends(0)
      .shows(
          "cheapest: IC-DR, TPUv3-8 on \"TPUv3-8\", preemptible: 0.516 USD in 12 min 54 s; accuracy 85.45 %")
      .shows("costs 1.204 USD more")
      .shows("costs 2.9")
      .shows("the size of the dataset is unknown");

  table.advise("--deadline 1h --accuracy 0.85 --data-gb 1.2993")
      .ends(0)
      .shows("14 min 41 s, 1 min 47 s of it transfer")
      .shows("takes up to 1 h 12 min")
      .shows("accuracy at least 81.59 %, 3.41 points too low");

  const Outcome json = table.advise("--deadline 2h --json").ends(0);
  const convoke::Settings printed = convoke::metrics::settings_from_json(json.text, "output");
  CHECK(std::get<convoke::Value::Array>(printed.find("offers")->data()).size() == 3);
}

TEST_CASE("study advise ends with the closest offer if none meets the demands") {
  const Table table;
  table.advise("--deadline \"10 min\" --accuracy 0.8")
      .ends(1)
      .shows(
          "no machine and number of workers ends within 10 min 00 s and reaches an accuracy of 80 %; the closest "
          "is IC-DR, TPUv3-8 on \"TPUv3-8\", preemptible")
      .shows("takes up to 12 min 54 s, 2 min 54 s too long");
  table.advise("--accuracy 0.99").ends(1).shows("accuracy at least 85.45 %, 13.55 points too low");

  write_file(table.folder / "t.csv", "mode,speedup,ranks\nsync,2,2\n");
  CHECK(table.advise("").says("has no makespans"));
  CHECK(table.advise("--deadline soon").says("is not a time"));
  CHECK(shell(binary() + " study advise t.csv").says("--machines is required"));
}

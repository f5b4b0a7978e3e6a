#include "convoke/study/analysis/offers.hpp"

#include "convoke/study/analysis/analysis.hpp"
#include "machines_of.hpp"
#include "rows.hpp"
#include "support/catch.hpp"
#include "support/source_path.hpp"

using namespace convoke::study;

namespace {

std::vector<Measurement> with_accuracy(std::vector<Measurement> all, double accuracy) {
  for (Measurement& run : all) run.accuracy = accuracy + 0.0001 * static_cast<double>(run.repeat);
  return all;
}

std::vector<Offer> offers_of(const Analysis& analysis, const std::vector<PricedMachine>& machines,
                             const Demands& demands) {
  return offers(analysis.curves, analysis.configurations, machines, demands);
}

const Offer& offer_at(const std::vector<Offer>& all, std::int64_t ranks, const std::string& machine) {
  const auto it = std::ranges::find_if(
      all, [&](const Offer& offer) { return offer.at.ranks == ranks && offer.machine == machine; });
  REQUIRE(it != all.end());
  return *it;
}

constexpr const char* kTwo = R"(
currency = "EUR"
[[machine]]
name = "small"
cores = 2
price_per_hour = 1.0
[[machine]]
name = "large"
cores = 16
price_per_hour = 3.0
transfer_mb_per_second = 100
transfer_price_per_gb = 0.05
storage_price_per_gb_month = 7.3
)";

}  // namespace

TEST_CASE("of the thesis' machines the cheapest is advised") {
  const auto machines = read_machines(source_path("apps/studies/thesis-prices.toml"));
  const PublishedTable table = published("thesis-cost.csv");
  const Analysis analysis = analyze(std::span(&table, 1), {});
  const auto offers_for = [&](std::string_view application, const Demands& demands) {
    std::vector<MeasuredConfiguration> configurations = analysis.configurations;
    std::erase_if(configurations, [&](const MeasuredConfiguration& configuration) {
      return configuration.at.system != application;
    });
    return offers(analysis.curves, configurations, machines, demands);
  };
  for (const char* application : {"NN-TWINS", "RNN-SA", "IC-DR"}) {
    CAPTURE(application);
    const auto all = offers_for(application, {});
    REQUIRE(all.size() == 4);  // the third row is also the preemptible price of the second
    CHECK(all.front().terms == "preemptible");
    for (const TableRow& row : table.rows) {
      if (row.measurement.system != application) continue;
      const bool preemptible = row.measurement.mode.ends_with(" preemptible");
      const auto offer = std::ranges::find_if(all, [&](const Offer& o) {
        return o.at.mode == row.measurement.mode && (o.terms == "preemptible") == preemptible;
      });
      REQUIRE(offer != all.end());
      const Printed& printed = row.printed.find("cost_per_training")->second;
      CHECK(std::abs(offer->cost() - printed.value) <= printed.half_unit);
    }
  }
  // Table 6.2, IC-DR: 3.44 dollars at 2.85 an hour are 72 min; 1.72 at 8.00 are 12.9 min.
  const auto hour = offers_for("IC-DR", {.deadline_seconds = 3600});
  CHECK(hour.front().terms == "preemptible");
  CHECK(hour.back().machine == "local cluster");
  CHECK_THAT(hour.back().reasons.at(0), Contains("takes up to 1 h 12 min, 12 min"));
  // With the upload of its dataset, 106.5 s at 12.2 MB/s (1.2993 GB), a quarter of an hour is just not
  // enough.
  const auto none = offers_for("IC-DR", {.deadline_seconds = 870, .gigabytes = 0.0122 * 106.5});
  CHECK_FALSE(none.front().fits());
  CHECK(none.front().machine == "TPUv3-8");
  CHECK(none.front().transfer_seconds == Approx(106.5));
  CHECK(none.front().latest_seconds == Approx(3600 * 1.72 / 8 + 106.5).epsilon(0.01));
}

TEST_CASE("an offer that costs as much as the cheapest takes longer, or as long") {
  const std::string price = "price_per_hour = 1.0\n";
  const auto machines = machines_of("[[machine]]\nname = \"a\"\n" + price + "[[machine]]\nname = \"b\"\n" +
                                    price + "[[machine]]\nname = \"c\"\nspeed = 0.5\nprice_per_hour = 0.5\n");
  const Analysis analysis = analyze(runs("sync", 1, {3600, 3600}), {});
  const TextTable table = table_of(offers_of(analysis, machines, {}), "");
  REQUIRE(table.rows.size() == 3);
  CHECK(table.rows[1].back() == "costs and takes the same");
  CHECK(table.rows[2].back() == "costs the same, but takes longer");
}

TEST_CASE("a training that never ends for its preemptions is not offered") {
  const auto machines = machines_of(
      "[[machine]]\nname = \"a\"\nprice_per_hour = 1.0\npreemptible_price_per_hour = 0.1\n"
      "hours_between_preemptions = 1e-3\n");
  const auto all = offers_of(analyze(runs("sync", 1, {36000, 36000}), {}), machines, {.gigabytes = 0});
  REQUIRE(all.size() == 1);
  CHECK(all[0].terms == "on demand");
}

TEST_CASE("an offer costs its training, the transfer and the storage of the dataset") {
  const Analysis analysis = analyze(with_accuracy(runs("sync", 2, {3600, 3600}), 0.9), {});
  Demands demands{.gigabytes = 50};
  auto all = offers_of(analysis, machines_of(kTwo), demands);
  REQUIRE(all.size() == 2);
  CHECK(all[0].machine == "small");
  CHECK(all[0].cost() == Approx(1.0));
  CHECK(all[1].transfer_seconds == Approx(500));
  CHECK(all[1].training_cost == Approx(3.0));
  CHECK(all[1].transfer_cost == Approx(2.5));
  CHECK(all[1].storage_cost == Approx(50 * 7.3 / 730 * (4100 / 3600.0)));  // 0.01 an hour and gigabyte
  demands.keep_seconds = 365 * 3600;
  CHECK(offers_of(analysis, machines_of(kTwo), demands).at(1).storage_cost == Approx(50 * 7.3 / 2));
  CHECK_THAT(sentence(all[1], "EUR"),
             Contains("on \"large\", on demand: 6.069 EUR (training 3, transfer 2.5, storage "
                      "0.5694) in 1 h 08 min, 8 min 20 s of it transfer; accuracy 90.0"));
  // An unknown dataset costs nothing.
  demands = {};
  CHECK(offers_of(analysis, machines_of(kTwo), demands).at(1).cost() == Approx(3.0));
}

TEST_CASE(
    "the cheapest offer that meets a deadline may have other workers, and the table says why others lose") {
  // T = 100 s + 900 s / n.
  const auto times = with_accuracy(runs("sync", 1, {999, 1000, 1001}) + runs("sync", 2, {549, 550, 551}) +
                                       runs("sync", 4, {324, 325, 326}),
                                   0.9);
  const Analysis analysis = analyze(times, {});
  const auto machines = machines_of(kTwo);
  const auto cheap = offers_of(analysis, machines, {.accuracy = 0.89});
  CHECK(cheap.front().at.ranks == 2);  // one node of two cores costs less for 550 s than for 1,000 s
  CHECK(cheap.front().machine == "small");
  CHECK(cheap.front().cost() == Approx(550.0 / 3600));
  const auto fast = offers_of(analysis, machines, {.deadline_seconds = 400, .accuracy = 0.89});
  CHECK(fast.front().at.ranks == 4);
  CHECK(fast.front().machine == "small");  // two nodes at 1.0 are cheaper than one at 3.0
  CHECK(fast.front().nodes == 2);
  CHECK_FALSE(fast.front().predicted);
  CHECK_THAT(offer_at(fast, 2, "small").reasons.at(0), Contains("too long"));
  const TextTable table = table_of(fast, "EUR");
  CHECK(table.rows.front().back() == "the cheapest");
  CHECK_THAT(to_text(table),
             Contains("cost (EUR)") && Contains("costs 0.09028 EUR more") && Contains("too long"));
  const auto best = best_of_each(fast);
  CHECK(best.size() == 2);
}

TEST_CASE("JSON names the machine of the price and that of the runs, if they ran on several") {
  const auto times = with(runs("sync", 1, {100, 101}), &Measurement::machine, "old") +
                     with(runs("sync", 1, {50, 51}), &Measurement::machine, "new");
  const auto machines = machines_of(kTwo);
  const Analysis analysis = analyze(times, {.machines = machines});
  const convoke::Settings costs = to_settings(analysis);
  for (const convoke::Value& list : {to_value(offers_of(analysis, machines, {})), *costs.find("costs")}) {
    CHECK_THAT(list.to_string(), Contains("measured_on = \"old\"") && Contains("measured_on = \"new\"") &&
                                     Contains("machine = \"large\""));
  }
}

TEST_CASE("workers that were not measured are predicted and marked; no time is ruled out by a mean alone") {
  const auto times = with_accuracy(runs("sync", 1, {999, 1000, 1001}) + runs("sync", 2, {549, 550, 551}) +
                                       runs("sync", 4, {324, 325, 326}),
                                   0.9);
  const Analysis analysis = analyze(times, {});
  const auto machines = machines_of(kTwo);
  const auto all = offers_of(analysis, machines, {.deadline_seconds = 200, .accuracy = 0.89, .up_to = 16});
  const Offer& first = all.front();
  CHECK(first.predicted);
  CHECK(first.accuracy_predicted);
  CHECK(first.at.ranks == 16);  // of one node, which costs the same for ten
  CHECK(first.machine == "large");
  CHECK(first.training_seconds == Approx(100 + 900 / 16.0).epsilon(0.01));
  CHECK(offer_at(all, 10, "large").fits());
  // 100 s + 900 s / 9 is 200 s, but not at the upper end of its interval.
  CHECK(offer_at(all, 9, "large").training_seconds == Approx(200).epsilon(0.001));
  CHECK_FALSE(offer_at(all, 9, "large").fits());
  CHECK(first.accuracy.value() == Approx(0.9002));
  CHECK_THAT(sentence(first, "EUR"),
             Contains("predicted by Amdahl's law") && Contains("predicted from other numbers"));
  CHECK_THAT(to_value(all).to_string(), Contains("accuracy_predicted"));

  // No deadline that the law cannot reach: the closest is named.
  const auto none = offers_of(analysis, machines, {.deadline_seconds = 90, .accuracy = 0.89, .up_to = 16});
  CHECK_FALSE(none.front().fits());
  CHECK(none.front().at.ranks == 16);
}

TEST_CASE("an accuracy is predicted only where all ranks compute the same model") {
  const auto machines = machines_of(kTwo);
  const Demands demands{.accuracy = 0.89, .up_to = 8};
  const auto offers_in = [&](const std::string& mode, double at_two, const std::string& batch) {
    const auto times = with_accuracy(runs(mode, 1, {99, 100, 101}), 0.9) +
                       with_accuracy(runs(mode, 2, {59, 60, 61}), at_two);
    return offers_of(analyze(with(times, &Measurement::batch, batch), {}), machines, demands);
  };
  CHECK(offer_at(offers_in("sync", 0.9, "strong"), 4, "large").accuracy_predicted);
  CHECK_FALSE(offer_at(offers_in("sync", 0.9, "weak"), 4, "large").accuracy);
  CHECK_FALSE(offer_at(offers_in("sync", 0.95, "strong"), 4, "large").accuracy);  // it depends on the ranks
  CHECK_FALSE(offer_at(offers_in("ensemble", 0.9, "strong"), 4, "large").accuracy);
  for (const bool variant : {true, false}) {  // the strategy is that of a variant, or of the recipe
    const auto rows = with_accuracy(runs("sync", 1, {99, 100, 101}) + runs("sync", 2, {59, 60, 61}), 0.9);
    const Analysis local = analyze(
        with(rows, &Measurement::variant, variant ? "train.strategy=local-sgd" : "train.epochs=2"), {});
    const auto accuracy = [&](const std::string& separate) {
      const Demands wanted{.accuracy = 0.89, .up_to = 8, .separate = {separate}};
      return offer_at(offers_of(local, machines, wanted), 4, "large").accuracy;
    };
    CHECK_FALSE(accuracy("net"));
    CHECK(accuracy("another").has_value() == !variant);
  }
  CHECK(offer_at(offers_in("ensemble", 0.9, "strong"), 4, "large").reasons.at(0) == "accuracy not measured");
  CHECK(offer_at(offers_in("ensemble", 0.9, "strong"), 2, "large").fits());
}

TEST_CASE("with more workers than cores the time is predicted, and the accuracy measured") {
  const auto crowded = marked(with_accuracy(runs("ensemble", 4, {300, 301, 302}), 0.95), "oversubscribed");
  const auto times =
      with_accuracy(runs("ensemble", 1, {99, 100, 101}) + runs("ensemble", 2, {59, 60, 61}), 0.9) + crowded;
  const auto all = offers_of(analyze(times, {}), machines_of(kTwo), {.accuracy = 0.94, .up_to = 4});
  CHECK(all.front().at.ranks == 4);
  CHECK(all.front().predicted);
  CHECK_FALSE(all.front().accuracy_predicted);
  CHECK(all.front().accuracy.value() == Approx(0.9502));
  CHECK(all.front().training_seconds == Approx(40).epsilon(0.02));
}

TEST_CASE("emulated members are offered with their mark") {
  const auto turns = marked(with_accuracy(runs("ensemble", 4, {40, 41, 42}), 0.95), "emulated");
  const auto all = offers_of(analyze(turns, {}), machines_of(kTwo), {.accuracy = 0.94});
  CHECK(all.front().nodes == 2);  // of two cores
  CHECK_THAT(sentence(all.front(), "EUR"), Contains("net, ensemble, 4 ranks [EMULATED] on \"small\""));
}

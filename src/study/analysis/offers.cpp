#include "convoke/study/analysis/offers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "convoke/core/text.hpp"
#include "convoke/study/analysis/statistics.hpp"

namespace convoke::study {
namespace {

constexpr double kMonth = 730 * 3600.0;

/// A configuration that may be offered, measured or predicted.
struct Candidate {
  MeasuredConfiguration configuration;
  bool predicted = false, accuracy_predicted = false;
};

// The accuracy at any number of ranks of a curve: the lowest mean of its configurations; null if it depends
// on the ranks.
const Statistics* accuracy_at_any_ranks(const Curve& curve,
                                        std::span<const MeasuredConfiguration> configurations) {
  if (curve.shared.mode != "sync" || curve.shared.batch == "weak" ||
      curve.shared.variant.find("train.strategy") != std::string::npos) {
    return nullptr;
  }
  const Statistics* lowest = nullptr;
  std::vector<const Statistics*> all;
  for (const ScalingPoint& point : curve.points) {
    const MeasuredConfiguration* configuration = configuration_at(configurations, point.at);
    if (configuration == nullptr || point.at.mode != curve.shared.mode ||
        configuration->find("accuracy") == nullptr)
      continue;
    all.push_back(configuration->find("accuracy"));
    if (lowest == nullptr || all.back()->mean < lowest->mean) lowest = all.back();
  }
  for (const Statistics* other : all) {
    const auto test = welch_test(*other, *lowest);
    if (test && test->p < 0.05) return nullptr;
  }
  return lowest;
}

Candidate predicted(const Curve& curve, std::int64_t workers,
                    std::span<const MeasuredConfiguration> configurations, bool one_model) {
  Candidate made;
  made.predicted = true;
  MeasuredConfiguration& configuration = made.configuration;
  configuration.at = curve.shared;
  configuration.at.threads = curve.base.threads;
  configuration.at.ranks = workers / curve.base.threads;
  configuration.marks = curve.law_marks;
  const Prediction p = curve.amdahl->at(workers);
  Statistics seconds;
  seconds.count = 1;
  seconds.mean = seconds.median = p.seconds;
  seconds.interval = p.seconds_interval;
  if (seconds.interval) seconds.interval->low = std::max(0.0, seconds.interval->low);
  configuration.statistics["makespan_seconds"] = seconds;
  if (const MeasuredConfiguration* base =
          configuration_at(configurations, curve.base)) {  // a restart takes as long
    for (const char* part : {"launch_seconds", "load_seconds"}) {
      if (const Statistics* start = base->find(part)) configuration.statistics[part] = *start;
    }
  }
  const MeasuredConfiguration* marked_configuration = configuration_at(configurations, configuration.at);
  // More ranks than cores change the time, but not the accuracy.
  const Statistics* accuracy =
      marked_configuration == nullptr ? nullptr : marked_configuration->find("accuracy");
  if (accuracy == nullptr && one_model) {
    accuracy = accuracy_at_any_ranks(curve, configurations);
    made.accuracy_predicted = accuracy != nullptr;
  }
  if (accuracy != nullptr) configuration.statistics["accuracy"] = *accuracy;
  return made;
}

// All measured configurations without oversubscription, then predictions for the other numbers of workers.
std::vector<Candidate> candidates(std::span<const Curve> curves,
                                  std::span<const MeasuredConfiguration> configurations,
                                  const Demands& demands) {
  std::vector<Candidate> all;
  for (const MeasuredConfiguration& configuration : configurations) {
    if (configuration.find("makespan_seconds") != nullptr && !is_oversubscribed(configuration.marks))
      all.push_back({configuration});
  }
  for (const Curve& curve : curves) {
    if (!curve.amdahl || curve.quantity != "makespan_seconds") continue;
    for (std::int64_t n = curve.base.threads; n <= demands.up_to; n += curve.base.threads) {
      Candidate made = predicted(curve, n, configurations, !demands.separate.contains(curve.shared.system));
      const bool measured = std::ranges::any_of(curve.points, [&](const ScalingPoint& point) {
        return point.at.mode == curve.shared.mode && point.at.workers() == n &&
               !is_oversubscribed(point.marks);
      });
      if (!measured && made.configuration.find("makespan_seconds")->mean > 0) all.push_back(std::move(made));
    }
  }
  return all;
}

void add_data(Offer& offer, const PricedMachine& machine, const Demands& demands) {
  const double gigabytes = demands.gigabytes.value_or(0);
  const DataPrices& prices = machine.data;
  if (prices.megabytes_per_second > 0)
    offer.transfer_seconds = 1000 * gigabytes / prices.megabytes_per_second;
  offer.transfer_cost = gigabytes * prices.transfer_price_per_gb;
  const double kept = demands.keep_seconds.value_or(offer.transfer_seconds + offer.training_seconds);
  offer.storage_cost = gigabytes * prices.storage_price_per_gb_month * kept / kMonth;
}

void check_demands(Offer& offer, const Demands& demands) {
  if (const auto deadline = demands.deadline_seconds; deadline && offer.latest_seconds > *deadline) {
    offer.reasons.push_back(fmt::format("takes up to {}, {} too long", format_duration(offer.latest_seconds),
                                        format_duration(offer.latest_seconds - *deadline)));
    offer.distance += offer.latest_seconds / *deadline - 1;
  }
  if (!demands.accuracy) return;
  if (!offer.accuracy) {
    offer.reasons.emplace_back("accuracy not measured");
    offer.distance += 1;
  } else if (offer.accuracy_at_least < *demands.accuracy) {
    offer.reasons.push_back(fmt::format("accuracy at least {:.2f} %, {:.2f} points too low",
                                        100 * offer.accuracy_at_least,
                                        100 * (*demands.accuracy - offer.accuracy_at_least)));
    offer.distance += 1 - offer.accuracy_at_least / *demands.accuracy;
  }
}

Offer offer_of(const Cost& cost, const Candidate& candidate, const PricedMachine& machine,
               const Demands& demands) {
  Offer offer;
  offer.at = cost.at;
  offer.machine = cost.machine;
  offer.terms = cost.terms;
  offer.nodes = cost.nodes;
  offer.training_seconds = cost.seconds;
  offer.training_cost = cost.cost;
  offer.predicted = candidate.predicted;
  offer.accuracy_predicted = candidate.accuracy_predicted;
  offer.marks = candidate.configuration.marks;
  add_data(offer, machine, demands);
  // The cost is proportional to the time, so its interval is that of the time.
  const double latest = cost.interval && cost.cost > 0 ? cost.interval->high / cost.cost : 1;
  offer.latest_seconds = offer.transfer_seconds + cost.seconds * latest;
  if (const Statistics* accuracy = candidate.configuration.find("accuracy")) {
    offer.accuracy = accuracy->mean;
    offer.accuracy_at_least = accuracy->at_least();
  }
  check_demands(offer, demands);
  return offer;
}

double seconds_of(const Offer& offer) { return offer.transfer_seconds + offer.training_seconds; }

std::string money(double value, const std::string& currency) {
  return fmt::format("{:.4g}{}{}", value, currency.empty() ? "" : " ", currency);
}

std::string accuracy_text(const Offer& offer) {
  if (!offer.accuracy) return "";
  return fmt::format("{:.2f}{}", 100 * *offer.accuracy, offer.accuracy_predicted ? ", predicted" : "");
}

std::string label(const Offer& offer) { return marked(to_string(offer.at), offer.marks); }

std::string verdict(const Offer& offer, const Offer& first, const std::string& currency) {
  if (!offer.fits()) return join(offer.reasons, "; ");
  if (&offer == &first) return "the cheapest";
  const double more = offer.cost() - first.cost();
  if (more > 0) return "costs " + money(more, currency) + " more";
  return seconds_of(offer) > seconds_of(first) ? "costs the same, but takes longer"
                                               : "costs and takes the same";
}

}  // namespace

std::vector<Offer> offers(std::span<const Curve> curves,
                          std::span<const MeasuredConfiguration> configurations,
                          std::span<const PricedMachine> machines, const Demands& demands) {
  const std::vector<Candidate> all = candidates(curves, configurations, demands);
  std::vector<MeasuredConfiguration> priced;
  for (const Candidate& candidate : all) priced.push_back(candidate.configuration);
  std::map<Coordinates, const Candidate*> candidate_at;
  for (const Candidate& candidate : all) candidate_at.emplace(candidate.configuration.at, &candidate);
  std::vector<Offer> list;
  for (const Cost& cost : costs(priced, machines, "")) {
    if (!std::isfinite(cost.seconds)) continue;  // so many preemptions that the training never ends
    const auto machine = std::ranges::find(machines, cost.machine, &PricedMachine::name);
    list.push_back(offer_of(cost, *candidate_at.at(cost.at), *machine, demands));
  }
  std::ranges::stable_sort(list, {}, [](const Offer& offer) {
    return std::tuple(offer.distance, offer.cost(), seconds_of(offer));
  });
  return list;
}

std::vector<Offer> best_of_each(std::span<const Offer> offers) {
  std::vector<Offer> best;
  for (const Offer& offer : offers) {
    const bool seen = std::ranges::any_of(best, [&](const Offer& other) {
      return same_family(other.at, offer.at) && other.at.fraction == offer.at.fraction &&
             other.machine == offer.machine && other.terms == offer.terms;
    });
    if (!seen) best.push_back(offer);
  }
  return best;
}

std::string sentence(const Offer& offer, const std::string& currency) {
  std::string text =
      fmt::format("{} on \"{}\", {}{}: {}", label(offer), offer.machine, offer.terms,
                  offer.nodes > 1 ? ", " + counted(offer.nodes, "node") : "", money(offer.cost(), currency));
  if (offer.transfer_cost > 0 || offer.storage_cost > 0) {
    text += fmt::format(" (training {}, transfer {}, storage {})", money(offer.training_cost, ""),
                        money(offer.transfer_cost, ""), money(offer.storage_cost, ""));
  }
  text += fmt::format(" in {}", format_duration(seconds_of(offer)));
  if (offer.transfer_seconds > 0)
    text += fmt::format(", {} of it transfer", format_duration(offer.transfer_seconds));
  if (offer.predicted) text += ", predicted by Amdahl's law";
  if (offer.accuracy) {
    text += fmt::format("; accuracy {:.2f} %{}", 100 * *offer.accuracy,
                        offer.accuracy_predicted ? ", predicted from other numbers of ranks" : "");
  }
  return text;
}

TextTable table_of(std::span<const Offer> offers, const std::string& currency) {
  const std::string unit = currency.empty() ? "" : " (" + currency + ")";
  TextTable table{
      "Offers",
      "time: transfer of the data and training, with the restarts expected on preemptible machines",
      {"training", "machine", "terms", "nodes", "time", "accuracy (%)", "training" + unit, "transfer" + unit,
       "storage" + unit, "cost" + unit, "time is", "verdict"}};
  for (const Offer& offer : offers) {
    const auto part = [](double value) { return value > 0 ? money(value, "") : std::string(); };
    table.rows.push_back({label(offer), offer.machine, offer.terms, fmt::format("{}", offer.nodes),
                          format_duration(seconds_of(offer)), accuracy_text(offer),
                          money(offer.training_cost, ""), part(offer.transfer_cost), part(offer.storage_cost),
                          money(offer.cost(), ""), offer.predicted ? "predicted" : "measured",
                          verdict(offer, offers.front(), currency)});
  }
  return table;
}

Value to_value(std::span<const Offer> offers) {
  Value::Array list;
  for (const Offer& offer : offers) {
    Settings s = to_settings(offer.at, offer.machine, offer.terms);
    s.set("nodes", offer.nodes);
    s.set("transfer_seconds", offer.transfer_seconds);
    s.set("training_seconds", offer.training_seconds);
    s.set("latest_seconds", offer.latest_seconds);
    s.set("predicted", offer.predicted);
    if (offer.accuracy) {
      s.set("accuracy", *offer.accuracy);
      s.set("accuracy_at_least", offer.accuracy_at_least);
      s.set("accuracy_predicted", offer.accuracy_predicted);
    }
    s.set("training_cost", offer.training_cost);
    s.set("transfer_cost", offer.transfer_cost);
    s.set("storage_cost", offer.storage_cost);
    s.set("cost", offer.cost());
    s.set("fits", offer.fits());
    s.set("reasons", Value::Array(offer.reasons.begin(), offer.reasons.end()));
    s.set("marks", Value::Array(offer.marks.begin(), offer.marks.end()));
    list.emplace_back(std::move(s));
  }
  return list;
}

}  // namespace convoke::study

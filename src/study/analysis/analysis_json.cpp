// Writes analysis.json with the names of the structs; unknown values are absent.

#include "convoke/metrics/json.hpp"
#include "convoke/study/analysis/analysis.hpp"

namespace convoke::study {
namespace {

template <class List, class Function>
Value json_list(const List& list, Function to_value) {
  Value::Array values;
  for (const auto& item : list) values.push_back(to_value(item));
  return values;
}

Value text_list(const std::vector<std::string>& texts) {
  return json_list(texts, [](const std::string& text) { return Value(text); });
}

Value interval(const Interval& i) { return Value::Array{Value(i.low), Value(i.high)}; }

// { "value": ..., "interval": [low, high] }
Value estimate(double value, const std::optional<Interval>& ends) {
  Settings s{{"value", value}};
  if (ends) s.set("interval", interval(*ends));
  return s;
}

Value estimate(const Estimate& fitted) { return estimate(fitted.value, fitted.interval); }

// Returns the values that all configurations of a curve have, without the fraction.
Settings family(const Coordinates& f) {
  Settings s{{"system", f.system}, {"mode", f.mode}, {"batch", f.batch}, {"variant", f.variant}};
  if (!f.machine.empty()) s.set("machine", f.machine);
  return s;
}

Settings of(const Statistics& s) {
  Settings out{{"count", s.count}, {"mean", s.mean}, {"median", s.median}};
  if (s.count > 1) out.set("deviation", s.deviation);
  if (s.interval) out.set("interval", interval(*s.interval));
  if (s.relative_error) out.set("relative_error", *s.relative_error);
  return out;
}

Settings of(const WelchTest& test) {
  return {{"difference", test.difference},
          {"interval", interval(test.interval)},
          {"t", test.t},
          {"degrees", test.degrees},
          {"p", test.p}};
}

Value of(const MeasuredConfiguration& configuration) {
  Settings s = to_settings(configuration.at);
  s.set("runs", static_cast<std::int64_t>(configuration.runs.size()));
  s.set("failed", configuration.failed);
  s.set("contended", configuration.contended);
  s.set("marks", text_list(configuration.marks));
  for (const auto& [name, statistics] : configuration.statistics) s.set(name, of(statistics));
  return s;
}

Value of(const ScalingPoint& point) {
  Settings s = to_settings(point.at);
  if (point.seconds) s.set("seconds", of(*point.seconds));
  s.set("speedup", estimate(point.speedup));
  if (point.efficiency) s.set("efficiency", estimate(*point.efficiency));
  if (point.machine_efficiency) s.set("machine_efficiency", *point.machine_efficiency);
  s.set("decrease_percent", estimate(point.decrease_percent));
  if (point.karp_flatt) s.set("karp_flatt", estimate(*point.karp_flatt));
  s.set("marks", text_list(point.marks));
  s.set("marks_of_ratios", text_list(point.marks_of_ratios));
  return s;
}

Value of(const Prediction& p) {
  return Settings{
      {"workers", p.workers}, {"seconds", estimate(p.seconds, p.seconds_interval)}, {"speedup", p.speedup}};
}

Value of(const Curve& curve) {
  Settings s = family(curve.shared);
  s.set("fraction", curve.shared.fraction);
  s.set("quantity", curve.quantity);
  s.set("base", to_settings(curve.base));
  s.set("points", json_list(curve.points, [](const ScalingPoint& point) { return of(point); }));
  if (curve.amdahl) {
    s.set("amdahl", Settings{{"sequential_seconds", estimate(curve.amdahl->sequential_seconds())},
                             {"serial_fraction", estimate(curve.amdahl->serial_fraction())},
                             {"degrees", curve.amdahl->degrees()},
                             {"marks", text_list(curve.law_marks)}});
  }
  if (curve.superlinear) s.set("superlinear", Settings{{"serial_fraction", estimate(*curve.superlinear)}});
  s.set("predictions", json_list(curve.predictions, [](const Prediction& p) { return of(p); }));
  return s;
}

Value of(const ScaledCurve& curve) {
  Settings s = family(curve.shared);
  s.set("quantity", curve.quantity);
  s.set("base", to_settings(curve.base));
  s.set("points", json_list(curve.points, [](const ScaledPoint& point) {
          Settings p = to_settings(point.at);
          p.set("workers", point.workers);
          p.set("speedup", estimate(point.speedup));
          p.set("marks", text_list(point.marks));
          return Value(p);
        }));
  if (curve.gustafson) s.set("gustafson", Settings{{"serial_fraction", estimate(*curve.gustafson)}});
  return s;
}

// Indices [curve, point] are -1 if there is no configuration.
Value of(const FractionTable& table) {
  Settings s = family(table.shared);
  s.set("fractions", json_list(table.fractions, [](double fraction) { return Value(fraction); }));
  s.set("sizes", json_list(table.sizes, [](const FractionTable::Size& size) {
          return Value(Value::Array{Value(size.ranks), Value(size.threads)});
        }));
  s.set("places", json_list(table.places, [](const auto& row) {
          return json_list(row, [](const std::optional<FractionTable::Place>& place) -> Value {
            const std::int64_t none = -1;
            return Value::Array{Value(place ? static_cast<std::int64_t>(place->curve) : none),
                                Value(place ? static_cast<std::int64_t>(place->point) : none)};
          });
        }));
  return s;
}

Value of(const Comparison& c) {
  return Settings{{"a", static_cast<std::int64_t>(c.a)},
                  {"b", static_cast<std::int64_t>(c.b)},
                  {"varies", c.varies},
                  {"quantity", c.quantity},
                  {"test", of(c.test)},
                  {"p_holm", c.p_holm}};
}

Value of(const EqualCost& v, std::span<const MeasuredConfiguration> configurations) {
  Settings s{{"ensemble", static_cast<std::int64_t>(v.ensemble)},
             {"sync", static_cast<std::int64_t>(v.sync)},
             {"core_seconds_ratio", v.core_seconds_ratio},
             {"difference", v.difference},
             {"better", v.better},
             {"sentence", sentence(v, configurations)}};
  if (v.test) s.set("test", of(*v.test));
  return s;
}

Value of(const Recommendation& r) {
  Settings s{{"curve", r.curve}, {"possible", r.possible}, {"reason", r.reason}};
  if (!r.possible) return s;
  s.set("at", to_settings(r.at));
  s.set("predicted", r.predicted);
  s.set("seconds", estimate(r.seconds, r.seconds_interval));
  s.set("core_seconds", r.core_seconds);
  if (r.accuracy) s.set("accuracy", estimate(r.accuracy->mean, r.accuracy->interval));
  return s;
}

Value of(const TimeToAccuracy& t) {
  Settings s{{"configuration", static_cast<std::int64_t>(t.configuration)},
             {"accuracy", t.accuracy},
             {"runs", t.runs},
             {"reached", t.reached}};
  if (t.seconds) s.set("seconds", of(*t.seconds));
  return s;
}

Value of(const Cost& c) {
  Settings s = to_settings(c.at, c.machine, c.terms);
  s.set("nodes", c.nodes);
  s.set("price_per_hour", c.price_per_hour);
  s.set("seconds", c.seconds);
  s.set("restart_share", c.restart_share);
  if (c.restart_seconds) {
    s.set("restart_seconds", *c.restart_seconds);
    s.set("restart_measured", c.restart_measured);
  }
  s.set("cost", estimate(c.cost, c.interval));
  if (c.efficiency_percent) s.set("efficiency_percent", *c.efficiency_percent);
  return s;
}

Value of(const ParetoPoint& point) {
  Settings s =
      point.machine.empty() ? to_settings(point.at) : to_settings(point.at, point.machine, point.terms);
  s.set("seconds", point.seconds);
  s.set("cost", point.cost);
  s.set("accuracy", point.accuracy);
  s.set("optimal", point.optimal);
  s.set("marks", text_list(point.marks));
  return s;
}

Value of(const ReplicatedConfiguration& c) {
  Settings s = to_settings(c.at);
  s.set("first", of(c.first));
  s.set("second", of(c.second));
  s.set("change", estimate(c.change));
  s.set("covered", c.covered);
  s.set("chance", c.chance);
  s.set("marks", text_list(c.marks));
  return s;
}

Value of(const Check& c) {
  return Settings{{"where", c.where},
                  {"row", c.row},
                  {"column", c.column},
                  {"definition", c.definition},
                  {"printed", c.printed},
                  {"derived", c.derived},
                  {"agreement", to_string(c.agreement)}};
}

Value of(const AuditFinding& f) {
  return Settings{{"wrong", f.wrong}, {"subject", f.subject}, {"text", f.text}};
}

}  // namespace

Settings to_settings(const Analysis& a) {
  const auto all = [](const auto& list) {
    return json_list(list, [](const auto& item) { return of(item); });
  };
  Settings s{{"format", metrics::kFileFormat},
             {"notices", text_list(a.notices)},
             {"relative_error", a.relative_error}};
  if (!a.machine.empty()) s.set("machine", a.machine);
  s.set("configurations", all(a.configurations));
  s.set("curves", all(a.curves));
  s.set("scaled", all(a.scaled));
  s.set("fractions", all(a.fractions));
  s.set("comparisons", all(a.comparisons));
  s.set("equal_cost", json_list(a.equal_cost, [&](const EqualCost& v) { return of(v, a.configurations); }));
  if (a.replication) {
    s.set("replication", Settings{{"configurations", all(a.replication->configurations)},
                                  {"covered", a.replication->covered()},
                                  {"expected", a.replication->expected()}});
  }
  s.set("recommendations", all(a.recommendations));
  s.set("times_to_accuracy", all(a.times_to_accuracy));
  s.set("costs", all(a.costs));
  if (!a.currency.empty()) s.set("currency", a.currency);
  s.set("pareto", all(a.pareto));
  s.set("checks", all(a.audit.checks));
  s.set("findings", all(a.audit.findings));
  return s;
}

}  // namespace convoke::study

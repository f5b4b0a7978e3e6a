#pragma once
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "convoke/study/tables/measured_configuration.hpp"
#include "convoke/study/tables/measurement.hpp"
#include "support/source_path.hpp"

// Measurements and tables for tests.

/// Returns runs with these makespans.
inline std::vector<convoke::study::Measurement> runs(const std::string& mode, std::int64_t ranks,
                                                     const std::vector<double>& seconds,
                                                     double fraction = 1) {
  std::vector<convoke::study::Measurement> all;
  for (const double value : seconds) {
    convoke::study::Measurement m;
    m.system = "net";
    m.mode = mode;
    m.ranks = ranks;
    m.fraction = fraction;
    m.makespan_seconds = value;
    m.repeat = static_cast<std::int64_t>(all.size()) + 1;
    all.push_back(m);
  }
  return all;
}

/// Returns these runs with this value each.
template <class T>
std::vector<convoke::study::Measurement> with(std::vector<convoke::study::Measurement> all,
                                              T convoke::study::Measurement::*member,
                                              const std::type_identity_t<T>& value) {
  for (convoke::study::Measurement& run : all) run.*member = value;
  return all;
}

/// Returns these runs with this mark each.
inline std::vector<convoke::study::Measurement> marked(std::vector<convoke::study::Measurement> all,
                                                       const std::string& mark) {
  return with(std::move(all), &convoke::study::Measurement::marks, {mark});
}

inline std::vector<convoke::study::Measurement> operator+(std::vector<convoke::study::Measurement> a,
                                                          const std::vector<convoke::study::Measurement>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Returns a table of these runs in a file of this name, which also stands for its folder.
inline convoke::study::PublishedTable table_with(const std::vector<convoke::study::Measurement>& all,
                                                 const std::string& name = {}) {
  convoke::study::PublishedTable table;
  for (const convoke::study::Measurement& run : all) {
    table.rows.push_back({run, {}, name + ":" + std::to_string(table.rows.size() + 2), name});
  }
  return table;
}

/// Returns a published table.
inline convoke::study::PublishedTable published(const std::string& name) {
  return convoke::study::read_table(source_path("docs/results/published/" + name));
}

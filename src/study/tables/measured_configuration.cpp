#include "convoke/study/tables/measured_configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <utility>

#include "convoke/core/checksum.hpp"
#include "convoke/core/text.hpp"
#include "study/tables/columns.hpp"

namespace convoke::study {
namespace {

void summarize_runs(MeasuredConfiguration& configuration) {
  const auto is_contended = [](const Measurement& m) { return m.has_mark("contended"); };
  if (!std::ranges::all_of(configuration.runs, is_contended)) {
    configuration.contended += static_cast<std::int64_t>(std::erase_if(configuration.runs, is_contended));
  }
  for (const Measurement& run : configuration.runs) add_marks(configuration.marks, run.marks);
  for (const Quantity& quantity : kQuantities) {
    const std::vector<double> values = values_of(configuration, quantity);
    if (!values.empty()) configuration.statistics.emplace(quantity.name, summarize(values));
  }
  std::map<std::string, std::vector<double>> further;
  for (const Measurement& run : configuration.runs) {
    for (const auto& [name, number] : run.further) further[name].push_back(number);
  }
  for (const auto& [name, values] : further) {
    configuration.statistics.emplace(std::string(kFurtherPrefix) + name, summarize(values));
  }
}

// Returns the configuration of these coordinates, which is added if there is none yet.
MeasuredConfiguration& configuration_among(std::vector<MeasuredConfiguration>& all, const Coordinates& at) {
  const auto known = std::ranges::find(all, at, &MeasuredConfiguration::at);
  if (known != all.end()) return *known;
  all.emplace_back().at = at;
  return all.back();
}

// The runs of one study: of a contended repeat that was made again, the last.
std::vector<MeasuredConfiguration> grouped(std::span<const Measurement> measurements) {
  std::vector<MeasuredConfiguration> configurations;
  for (const Measurement& measurement : measurements) {
    const Coordinates at = coordinates(measurement);
    MeasuredConfiguration& configuration = configuration_among(configurations, at);
    if (measurement.has_mark("failed")) {
      ++configuration.failed;
      continue;
    }
    const auto superseded = [&](const Measurement& m) {
      return m.has_mark("contended") && m.repeat == measurement.repeat;
    };
    configuration.contended += static_cast<std::int64_t>(std::erase_if(configuration.runs, superseded));
    configuration.runs.push_back(measurement);
    Measurement& run = configuration.runs.back();
    if (!run.core_seconds && run.makespan_seconds && at.workers() > 0) {
      run.core_seconds = *run.makespan_seconds * static_cast<double>(at.workers());
    }
  }
  return configurations;
}

// Completes the configurations from their runs. Runs that failed before they recorded a machine count for the
// machine of the other runs of their configuration.
std::vector<MeasuredConfiguration> summarized(std::vector<MeasuredConfiguration> configurations) {
  for (MeasuredConfiguration& configuration : configurations) summarize_runs(configuration);
  for (MeasuredConfiguration& configuration : configurations) {
    if (!configuration.runs.empty() || !configuration.at.machine.empty()) continue;
    const auto other = std::ranges::find_if(configurations, [&](const MeasuredConfiguration& each) {
      return !each.runs.empty() && on_any_machine(each.at) == configuration.at;
    });
    if (other != configurations.end()) other->failed += std::exchange(configuration.failed, 0);
  }
  std::erase_if(configurations, [](const MeasuredConfiguration& configuration) {
    return configuration.runs.empty() && configuration.failed == 0;
  });
  return configurations;
}

}  // namespace

Coordinates coordinates(const Measurement& m) {
  return {m.system,  m.mode,     m.ranks,
          m.threads, m.fraction, m.batch,
          m.variant, m.machine,  m.has_mark("emulated")};
}

Coordinates on_any_machine(Coordinates at) {
  at.machine.clear();
  return at;
}

Coordinates on_any_ranks(Coordinates at) {
  at.ranks = 0;
  at.threads = 1;
  at.emulated = false;
  return at;
}

bool same_family(const Coordinates& a, const Coordinates& b) {
  return a.system == b.system && a.mode == b.mode && a.batch == b.batch && a.variant == b.variant &&
         a.machine == b.machine;
}

std::string variant_of_work(const Coordinates& at) {
  constexpr std::string_view kBlanks = " \t\n\r\v\f";
  const std::string_view all = at.variant;
  std::string kept;
  for (std::size_t begin = all.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(all.find_first_of(kBlanks, begin), all.size());
    const std::string_view word = all.substr(begin, end - begin);
    if (!word.starts_with("ensemble.")) kept.append(" ").append(word);
    begin = all.find_first_not_of(kBlanks, end);
  }
  return kept;
}

bool same_work(const Coordinates& a, const Coordinates& b) {
  return a.system == b.system && a.machine == b.machine && a.fraction == b.fraction &&
         variant_of_work(a) == variant_of_work(b);
}

Settings to_settings(const Coordinates& at) {
  Settings s{{"system", at.system}, {"mode", at.mode}};
  if (at.ranks > 0) s.set("ranks", at.ranks);
  s.set("threads", at.threads);
  s.set("fraction", at.fraction);
  s.set("batch", at.batch);
  s.set("variant", at.variant);
  if (!at.machine.empty()) s.set("machine", at.machine);
  if (at.emulated) s.set("emulated", true);
  return s;
}

Settings to_settings(const Coordinates& at, const std::string& machine, const std::string& terms) {
  Settings s = to_settings(on_any_machine(at));
  if (!at.machine.empty()) s.set("measured_on", at.machine);
  s.set("machine", machine);
  s.set("terms", terms);
  return s;
}

std::string run_name(const Coordinates& at) {
  std::string name = fmt::format("{}-{}-{}x{}", at.system, at.mode, at.ranks, at.threads);
  if (at.fraction != 1) name += fmt::format("-p{:.4g}", at.fraction);
  if (at.batch == "weak") name += "-weak";
  if (!at.variant.empty()) name += "-" + at.variant;
  if (at.emulated) name += "-emulated";
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '+' && c != '-'; }, '_');
  constexpr std::size_t kLongest = 220;  // of the 255 bytes of a file's name; "-12-warm-up.log" follows
  if (name.size() <= kLongest) return name;
  return fmt::format("{}-{:08x}", name.substr(0, kLongest - 9), crc32(std::as_bytes(std::span(name))));
}

bool is_sequential(std::string_view mode) {
  return mode == "sequential" || mode == "serial" || mode == "single";
}

std::string fraction_text(double fraction) {
  const double inverse = std::round(1 / fraction);
  if (fraction < 1 && std::abs(inverse * fraction - 1) < 1e-9) return fmt::format("1/{:.0f}", inverse);
  return fmt::format("{:.4g}", fraction);
}

std::string to_string(const Coordinates& at) {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  add(at.system);
  add(at.mode);
  if (at.ranks > 0) {
    add(counted(at.ranks, "rank") + (at.threads == 1 ? "" : " x " + counted(at.threads, "thread")));
  }
  if (at.fraction != 1) add(fraction_text(at.fraction) + " of the samples");
  add(at.batch == "weak" ? "weak batch" : "");
  add(at.variant);
  add(at.machine);
  return text.empty() ? "all" : text;
}

std::string loud(std::string mark) {
  std::transform(mark.begin(), mark.end(), mark.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return mark;
}

std::string marked(const std::string& text, std::span<const std::string> marks) {
  if (marks.empty()) return text;
  return fmt::format("{} [{}]", text, loud(join(marks)));
}

const MeasuredConfiguration* configuration_at(std::span<const MeasuredConfiguration> configurations,
                                              const Coordinates& at) {
  const auto it = std::ranges::find(configurations, at, &MeasuredConfiguration::at);
  return it == configurations.end() ? nullptr : &*it;
}

const MeasuredConfiguration* largest_configuration_at(std::span<const MeasuredConfiguration> configurations,
                                                      const Coordinates& at) {
  const MeasuredConfiguration* largest = nullptr;
  for (const MeasuredConfiguration& configuration : configurations) {
    if (on_any_machine(configuration.at) != on_any_machine(at)) continue;
    if (largest == nullptr || configuration.runs.size() > largest->runs.size()) largest = &configuration;
  }
  return largest;
}

void add_marks(std::vector<std::string>& all, std::span<const std::string> marks) {
  for (const std::string& mark : marks) {
    if (std::find(all.begin(), all.end(), mark) == all.end()) all.push_back(mark);
  }
}

bool is_oversubscribed(std::span<const std::string> marks) {
  return std::find(marks.begin(), marks.end(), "oversubscribed") != marks.end();
}

std::vector<double> values_of(const MeasuredConfiguration& configuration, const Quantity& quantity) {
  std::vector<double> values;
  for (auto run = configuration.runs.begin(); run != configuration.runs.end(); ++run) {
    const auto& value = (*run).*quantity.member;
    // A repeat has one seed: in two studies together, the second has no new information about its scores.
    const bool known = quantity.kind == Quantity::Kind::kScore &&
                       std::any_of(configuration.runs.begin(), run, [&](const Measurement& earlier) {
                         return earlier.repeat == run->repeat && earlier.*quantity.member == value;
                       });
    if (value && !known) values.push_back(*value);
  }
  return values;
}

const Statistics* MeasuredConfiguration::find(std::string_view quantity) const {
  const auto it = statistics.find(quantity);
  return it == statistics.end() ? nullptr : &it->second;
}

std::string_view MeasuredConfiguration::dataset_hash() const {
  return runs.empty() ? std::string_view() : runs.front().dataset_hash;
}

std::vector<MeasuredConfiguration> configurations_of(std::span<const Measurement> measurements) {
  return summarized(grouped(measurements));
}

std::vector<MeasuredConfiguration> configurations_of(std::span<const std::vector<Measurement>> studies) {
  std::vector<MeasuredConfiguration> configurations;
  for (const std::vector<Measurement>& study : studies) {
    for (MeasuredConfiguration& of_study : grouped(study)) {
      MeasuredConfiguration& all = configuration_among(configurations, of_study.at);
      std::ranges::move(of_study.runs, std::back_inserter(all.runs));
      all.failed += of_study.failed;
      all.contended += of_study.contended;
    }
  }
  return summarized(std::move(configurations));
}

}  // namespace convoke::study

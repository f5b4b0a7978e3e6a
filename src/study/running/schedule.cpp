#include "convoke/study/running/schedule.hpp"

#include <algorithm>

#include "convoke/study/running/configuration.hpp"
#include "convoke/study/tables/measured_configuration.hpp"

namespace convoke::study {
namespace {

// Returns the makespan over the counted ones of at least one run, on the machine with the most of them.
std::optional<Statistics> makespan_of(std::span<const Measurement> runs) {
  const std::vector<MeasuredConfiguration> configurations = configurations_of(runs);
  const Statistics* statistics =
      largest_configuration_at(configurations, configurations.front().at)->find("makespan_seconds");
  return statistics == nullptr ? std::nullopt : std::optional(*statistics);
}

}  // namespace

RunSchedule::RunSchedule(const StudyFile& rules, std::size_t configurations)
    : rules_(rules), configurations_(configurations) {}

void RunSchedule::record(std::size_t configuration, const Measurement& run, double seconds,
                         std::int64_t turns) {
  History& history = configurations_[configuration];
  const bool now = seconds > 0;
  if (run.has_mark("failed")) {
    if (now) ++history.failures;
    return;
  }
  history.failures = 0;
  const bool contended = run.has_mark("contended");
  const auto [made, first] = history.made.try_emplace(run.repeat, !contended);
  if (!first) {
    made->second = true;
    std::erase_if(contended_,
                  [&](const Task& t) { return t.configuration == configuration && t.repeat == run.repeat; });
  } else if (contended) {
    contended_.push_back({configuration, run.repeat, true});
  }
  history.runs.push_back(run);
  history.makespan = makespan_of(history.runs);
  history.seconds += now ? seconds : static_cast<double>(turns) * run.makespan_seconds.value_or(0);
}

bool RunSchedule::wants(std::size_t configuration, std::int64_t repeat) const {
  const History& history = configurations_[configuration];
  if (is_given_up(configuration) || repeat > rules_.at_most) return false;
  if (history.made.contains(repeat)) return false;
  return repeat <= rules_.repeats || !is_done(configuration);
}

bool RunSchedule::is_done(std::size_t configuration) const {
  const History& history = configurations_[configuration];
  const auto made = static_cast<std::int64_t>(history.made.size());
  if (is_given_up(configuration) || made >= rules_.at_most) return true;
  if (made < rules_.repeats) return false;
  // Counted runs only: contended ones may not count.
  const std::optional<Statistics>& makespan = history.makespan;
  return makespan && makespan->count >= rules_.repeats && makespan->relative_error &&
         *makespan->relative_error <= rules_.target;
}

void RunSchedule::begin_round() {
  ++round_;
  for (const std::uint32_t configuration :
       order_of_round(static_cast<std::int64_t>(configurations_.size()), rules_.seed, round_)) {
    if (wants(configuration, round_)) queue_.push_back({configuration, round_, false});
  }
}

std::optional<Task> RunSchedule::next(std::optional<double> seconds_left) {
  for (;;) {
    while (!queue_.empty()) {
      const Task task = queue_.front();
      queue_.pop_front();
      if (is_given_up(task.configuration)) continue;
      if (seconds_left && (*seconds_left <= 0 || expected_seconds(task.configuration) > *seconds_left)) {
        ++left_out_;
        continue;
      }
      return task;
    }
    queue_.assign(contended_.begin(), contended_.end());
    contended_.clear();
    if (!queue_.empty()) continue;
    if (round_ >= rules_.at_most) return std::nullopt;
    begin_round();
  }
}

double RunSchedule::expected_seconds(std::size_t configuration) const {
  const History& own = configurations_[configuration];
  if (!own.runs.empty()) return own.seconds / static_cast<double>(own.runs.size());
  double sum = 0;
  std::int64_t configurations = 0;
  for (const History& other : configurations_) {
    if (other.runs.empty()) continue;
    sum += other.seconds / static_cast<double>(other.runs.size());
    ++configurations;
  }
  return configurations == 0 ? 0 : sum / static_cast<double>(configurations);
}

std::int64_t RunSchedule::runs_left(std::size_t configuration) const {
  if (is_done(configuration)) return 0;
  const History& history = configurations_[configuration];
  const auto made = static_cast<std::int64_t>(history.made.size());
  std::int64_t more = std::max<std::int64_t>(0, rules_.repeats - made);
  if (const std::optional<Statistics>& makespan = history.makespan) {
    more = std::max({more, rules_.repeats - makespan->count,
                     runs_needed(*makespan, rules_.target).value_or(1)});  // one run: the number is unknown
  }
  return std::min(more, rules_.at_most - made);
}

std::int64_t RunSchedule::runs_ahead(std::size_t configuration) const {
  if (is_given_up(configuration)) return 0;
  const std::int64_t again = std::ranges::count_if(configurations_[configuration].made,
                                                   [](const auto& repeat) { return !repeat.second; });
  return std::max(again, runs_left(configuration));
}

std::int64_t RunSchedule::runs_left() const {
  std::int64_t sum = 0;
  for (std::size_t configuration = 0; configuration < configurations_.size(); ++configuration)
    sum += runs_ahead(configuration);
  return sum;
}

double RunSchedule::seconds_left() const {
  double sum = 0;
  for (std::size_t configuration = 0; configuration < configurations_.size(); ++configuration) {
    sum += static_cast<double>(runs_ahead(configuration)) * expected_seconds(configuration);
  }
  return sum;
}

}  // namespace convoke::study

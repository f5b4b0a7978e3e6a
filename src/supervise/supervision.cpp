#include "convoke/supervise/supervision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "convoke/core/pattern.hpp"
#include "convoke/core/text.hpp"
#include "convoke/supervise/exit_status.hpp"

namespace convoke::supervise {

namespace {

constexpr double kLongestWait = 600;  // seconds
constexpr int kIdleRestarts = 2;

Supervision::Decision refuse(std::string why) { return {false, 0, std::move(why)}; }

}  // namespace

Supervision::Supervision(int restarts, double backoff_seconds, std::int64_t steps)
    : restarts_(restarts), backoff_(backoff_seconds), steps_(steps) {}

Supervision::Decision Supervision::after(Attempt attempt) {
  idle_ = attempt.steps > steps_ ? 0 : idle_ + 1;
  steps_ = attempt.steps;
  attempts_.push_back(std::move(attempt));
  const int before = static_cast<int>(attempts_.size()) - 1;
  if (!attempts_.back().curable) return refuse(attempts_.back().reason);
  if (attempts_.back().asked)
    return idle_ == 0 ? Decision{true, 0, ""} : refuse("it reached no new checkpoint");
  if (used_ >= restarts_)
    return refuse(restarts_ == 0 ? "no restart is allowed"
                                 : fmt::format("restart {0} of {0} is used", restarts_));
  if (std::min(idle_, before) >= kIdleRestarts)
    return refuse(fmt::format("{} restarts in a row reached no new checkpoint", kIdleRestarts));
  ++used_;
  return {true, std::min(kLongestWait, std::ldexp(backoff_, std::max(0, idle_ - 1))), ""};
}

std::string Supervision::table() const {
  std::string text = "attempt  exit code  ranks  checkpoint at step          time  reason\n";
  for (std::size_t i = 0; i < attempts_.size(); ++i) {
    const Attempt& attempt = attempts_[i];
    text += fmt::format("{:7}  {:9}  {:>5}  {:>18}  {:>12}  {}\n", i + 1, attempt.code,
                        attempt.ranks > 0 ? fmt::to_string(attempt.ranks) : "-", format_count(attempt.steps),
                        format_duration(attempt.seconds), attempt.reason);
  }
  return text;
}

namespace {

constexpr const char* kFile = "restarts.log";

}  // namespace

bool append_restart(const std::filesystem::path& run, const Attempt& attempt, const std::string& job) {
  std::ofstream log(run / kFile, std::ios::app);
  log << fmt::format("{}exit code {} at step {}: {}\n", job.empty() ? "" : fmt::format("job {}: ", job),
                     attempt.code, attempt.steps, attempt.reason);
  log.close();
  return log.good();
}

std::vector<Attempt> restarts_of(const std::filesystem::path& run, const std::string& job) {
  static const Pattern kLine("job ([^:]+): exit code ([0-9]{1,3}) at step ([0-9]{1,18}): (.*)");
  std::vector<Attempt> attempts;
  std::istringstream in(read_text(run / kFile).value_or(""));
  for (std::string line; std::getline(in, line);) {
    const Match found = line.size() > 1000 ? Match() : whole_match(line, kLine);
    if (found.empty() || found[1] != job) continue;
    Attempt& attempt = attempts.emplace_back();
    attempt.code = std::stoi(found[2]);
    attempt.steps = std::stoll(found[3]);
    attempt.reason = found[4];
    attempt.curable = true;
    attempt.asked = classify_exit(attempt.code).action == RecoveryAction::kResume;
  }
  return attempts;
}

}  // namespace convoke::supervise

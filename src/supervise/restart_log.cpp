#include "convoke/supervise/restart_log.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>

#include "convoke/core/pattern.hpp"
#include "convoke/core/text.hpp"
#include "convoke/supervise/exit_status.hpp"

namespace convoke::supervise {
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

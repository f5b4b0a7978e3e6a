#include "convoke/run/job_time.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <regex>

#include "convoke/core/error.hpp"

namespace convoke::run {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The first line that a command prints; empty if it fails.
std::string first_line_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  char line[128] = "";
  if (!pipe || std::fgets(line, sizeof line, pipe.get()) == nullptr) return {};
  std::string text(line);
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

}  // namespace

std::optional<double> slurm_seconds(const std::string& text) {
  static const std::regex kTime(R"((?:(\d+)-)?(?:(?:(\d+):)?(\d+):)?(\d+))");
  std::smatch parts;
  if (!std::regex_match(text, parts, kTime)) return std::nullopt;
  const auto part = [&](std::size_t i) { return parts[i].matched ? std::stod(parts[i]) : 0.0; };
  return ((part(1) * 24 + part(2)) * 60 + part(3)) * 60 + part(4);
}

std::optional<double> slurm_seconds_left() {
  const std::string job = variable("SLURM_JOB_ID");
  if (job.empty() || job.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  // A controller that does not answer keeps squeue trying for minutes.
  const std::string left =
      first_line_of("timeout 10 squeue --noheader --jobs=" + job + " --format=%L 2>/dev/null");
  if (!left.empty()) return slurm_seconds(left);
  const std::string end = variable("SLURM_JOB_END_TIME");
  if (end.empty()) return std::nullopt;
  return std::strtod(end.c_str(), nullptr) - static_cast<double>(std::time(nullptr));
}

Deadline in_seconds(double seconds) {
  using Clock = std::chrono::steady_clock;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

Deadline deadline_before(Deadline job_end, double seconds_before) {
  if (seconds_before <= 0 || !job_end) return std::nullopt;
  const double left = std::chrono::duration<double>(*job_end - std::chrono::steady_clock::now()).count();
  if (left > seconds_before) return in_seconds(left - seconds_before);
  throw Error(
      fmt::format("this job ends in {:.0f} s, but run.stop_before keeps the last {:.0f} s of it: nothing "
                  "would be trained",
                  left, seconds_before),
      "ask for more time (sbatch --time=HH:MM:SS), or lower run.stop_before");
}

}  // namespace convoke::run

#include "convoke/run/stopping.hpp"

#include <fmt/format.h>

#include <string.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/pattern.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/process.hpp"
#include "convoke/os/stop_signals.hpp"

namespace convoke::run {

std::string StopReason::to_string() const {
  if (number_ == 0) return "nothing";
  if (number_ == 1) return "the end of the job's time";
  return std::string("SIG") + ::sigabbrev_np(static_cast<int>(number_ - 1));
}

// The next steps may take a thousand times as long as those before, beside other programs for example: until
// the next agreement there are at most so many. An agreement is one small sum more in so many steps.
constexpr double kMostSteps = 32;

StopReason StopAgreement::mine() {
  if (const int signal = os::StopSignals::received(); signal != 0) return StopReason::by_signal(signal);
  if (deadline_ && std::chrono::steady_clock::now() >= *deadline_) return StopReason::out_of_time();
  return calls_.heard();
}

StopReason StopAgreement::after_step(bool alarm) {
  calls_.attend();
  alarmed_ = false;
  if (++steps_ < interval_) return {};
  double agreed[] = {static_cast<double>(mine().number()), watch_.seconds() / static_cast<double>(steps_),
                     alarm ? 1.0 : 0.0};
  group_.max(agreed);
  alarmed_ = agreed[2] > 0;
  // About as many steps as the slowest rank makes in a second; equal on all ranks, since both numbers are.
  const double steps = agreed[1] > 0 ? std::min(1.0 / agreed[1], kMostSteps) : 1;
  expect_pace(std::max<std::int64_t>(1, std::llround(steps)));
  return pass_on(StopReason::from(std::llround(agreed[0])));
}

void StopAgreement::expect_pace(std::int64_t interval) {
  interval_ = interval;
  steps_ = 0;
  watch_ = {};
}

StopReason StopAgreement::agree() {
  const double agreed = mpi::max_of(group_, static_cast<double>(mine().number()));
  return pass_on(StopReason::from(std::llround(agreed)));
}

StopReason StopAgreement::pass_on(StopReason reason) {
  if (reason && group_.root()) calls_.call(reason);
  return reason;
}

using namespace std::chrono_literals;

StopCalls::StopCalls(const mpi::Communicator& world, const mpi::Communicator& group,
                     std::function<void()> attend)
    : world_(world.split(0, world.rank())),
      listens_(group.root() || world.root()),
      attend_(std::move(attend)) {
  const std::vector<std::string> is_first = world.gather(group.root() ? "yes" : "");
  if (!world.root()) receivers_ = {0};
  for (std::size_t rank = 1; rank < is_first.size(); ++rank) {
    if (!is_first[rank].empty()) receivers_.push_back(static_cast<int>(rank));
  }
}

void StopCalls::attend() {
  if (attend_) attend_();
  if (world_.root()) heard();
}

void StopCalls::send(std::int64_t reason) {
  called_ = reason;
  for (const int rank : receivers_) {
    sent_.push_back(world_.start_send(std::as_bytes(std::span(&called_, 1)), rank, mpi::Tag::kStopCall));
  }
}

// Every call reaches all groups, so a rank that has received one need not call.
void StopCalls::call(StopReason reason) {
  if (called_ != 0 || heard()) return;
  send(reason.number());
}

StopReason StopCalls::heard() {
  if (!listens_) return {};
  while (const std::optional<int> from = world_.sender_of(mpi::Tag::kStopCall)) {
    world_.receive(std::as_writable_bytes(std::span(&heard_, 1)), *from, mpi::Tag::kStopCall);
    ++messages_;
    if (world_.root() && called_ == 0) send(heard_);
  }
  return StopReason::from(heard_);
}

void StopCalls::wait_for_all() {
  const ScopedWait wait("the other groups");
  mpi::Request all = world_.start_barrier();
  while (!all.test()) {
    attend();
    if (const int signal = os::StopSignals::received(); signal != 0) call(StopReason::by_signal(signal));
    std::this_thread::sleep_for(1ms);
  }
  // No rank calls any more, so the number of messages is known: rank 0 gets all calls, and passes one on.
  const std::int64_t mine = called_ != 0 ? 1 : 0;
  const std::int64_t callers = mpi::sum_of(world_, mine);
  const std::int64_t expected = world_.root() ? callers - mine : std::min<std::int64_t>(callers, 1);
  while (listens_ && messages_ < expected) heard();
  for (mpi::Request& message : sent_) message.wait();
  sent_.clear();
}

namespace {

// Returns the number of the job of this process, as squeue takes it; empty outside of Slurm. SLURM_JOB_ID of
// an array's last job is the number of the whole array. (A job that another array's job submitted inherits
// the variables of that array.)
std::string job_number() {
  const std::optional<std::int64_t> job = os::number_in("SLURM_JOB_ID");
  const std::optional<std::int64_t> array = os::number_in("SLURM_ARRAY_JOB_ID");
  const std::optional<std::int64_t> task = os::number_in("SLURM_ARRAY_TASK_ID");
  if (job && array == job && task) return fmt::format("{}_{}", *array, *task);
  return job ? fmt::to_string(*job) : "";
}

// Returns the remaining time of a job from the controller, "1-02:03:04"; empty if it does not answer within
// 10 seconds (squeue would retry for minutes).
std::string time_left_by_squeue(const std::string& job) {
  std::string left =
      os::run({"squeue", "--noheader", "--jobs=" + job, "--format=%L"}, {.errors = false, .seconds = 10})
          .output;
  left.resize(std::min(left.find('\n'), left.size()));
  left.erase(left.find_last_not_of(' ') + 1);
  return left;
}

}  // namespace

std::optional<double> slurm_seconds(const std::string& text) {
  static const Pattern kTime(R"((?:(\d+)-)?(?:(?:(\d+):)?(\d+):)?(\d+))");
  const Match parts = whole_match(text, kTime);
  if (parts.empty()) return std::nullopt;
  const auto part = [&](std::size_t i) { return parts[i].empty() ? 0.0 : std::stod(parts[i]); };
  return ((part(1) * 24 + part(2)) * 60 + part(3)) * 60 + part(4);
}

std::optional<double> slurm_seconds_left() {
  const std::string job = job_number();
  if (job.empty()) return std::nullopt;
  if (const std::string left = time_left_by_squeue(job); !left.empty()) return slurm_seconds(left);
  const std::optional<std::int64_t> end = os::number_in("SLURM_JOB_END_TIME");
  if (!end) return std::nullopt;
  return static_cast<double>(*end) - os::seconds_since_1970();
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
      fmt::format("this job ends in {:.0f} s, but run.stop_before reserves the last {:.0f} s: no time "
                  "is left to train",
                  left, seconds_before),
      "ask for more time (sbatch --time=HH:MM:SS), or lower run.stop_before");
}

}  // namespace convoke::run

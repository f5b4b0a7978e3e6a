#include "convoke/os/thread.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <system_error>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/stop_signals.hpp"

namespace convoke::os {
namespace {

/// struct sched_attr of Linux, see sched_setattr(2).
struct Scheduling {
  std::uint32_t size = sizeof(Scheduling), policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;
};

}  // namespace

void request_short_time_slices() {
  constexpr std::uint64_t kResetOnFork = 1, kNanoseconds = 100'000;  // the least that Linux grants
  Scheduling now;
  if (::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0 || now.policy != SCHED_OTHER) return;
  now.flags |= kResetOnFork;
  now.runtime = kNanoseconds;
  ::syscall(SYS_sched_setattr, 0, &now, 0);  // older kernels ignore it
}

std::jthread start_thread(std::function<void()> work) {
  const BlockedSignals blocked;  // the thread inherits them
  try {
    return std::jthread(std::move(work));
  } catch (const std::system_error& error) {
    throw Error(fmt::format("{}: cannot start a thread: {}", host_name(), error.code().message()),
                "allow more threads (ulimit -u, the limit of the job or of the container), or use fewer: "
                "run.threads, fewer ranks on a host");
  }
}

PeriodicThread::PeriodicThread(std::chrono::milliseconds interval, std::function<void()> work) {
  thread_ = start_thread([this, interval, work = std::move(work)] {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, interval, [&] { return ends_; })) work();
  });
}

PeriodicThread::~PeriodicThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

}  // namespace convoke::os

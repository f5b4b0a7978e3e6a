#include "convoke/engine/worker_team.hpp"

#include <fmt/format.h>

#include "convoke/os/stop_signals.hpp"

namespace convoke::engine {

WorkerTeam::WorkerTeam(int workers) : failures_(static_cast<std::size_t>(workers)) {
  const os::BlockedSignals blocked;  // inherited by the threads
  for (int worker = 1; worker < workers; ++worker) threads_.emplace_back([this, worker] { serve(worker); });
}

WorkerTeam::~WorkerTeam() {
  ending_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerTeam::serve(int worker) {
  const Timeline::Use use(timeline_, fmt::format("worker {}", worker));
  for (std::uint32_t seen = 0;;) {
    for (int turn = 0; turn < 4000 && round_.load(std::memory_order_acquire) == seen; ++turn) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    round_.wait(seen, std::memory_order_acquire);
    ++seen;
    if (ending_) return;
    try {
      (*work_)(worker);
    } catch (...) {
      failures_[static_cast<std::size_t>(worker)] = std::current_exception();
    }
    busy_.fetch_sub(1, std::memory_order_release);
  }
}

void WorkerTeam::run(const std::function<void(int)>& work) {
  if (threads_.empty()) return work(0);
  work_ = &work;
  busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  try {
    work(0);
  } catch (...) {
    failures_[0] = std::current_exception();
  }
  {
    const Span span(Activity::kJoin);
    spin_until([&] { return busy_.load(std::memory_order_acquire) == 0; });
  }
  std::exception_ptr first;
  for (std::exception_ptr& failure : failures_) {
    const std::exception_ptr of_this_run = std::exchange(failure, nullptr);
    if (!first) first = of_this_run;
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace convoke::engine

#include "convoke/engine/worker_team.hpp"

#include <fmt/format.h>

#include "convoke/os/thread.hpp"

namespace convoke::engine {

// Delegates, so that the destructor ends the threads that have started if another one cannot.
WorkerTeam::WorkerTeam(int workers, std::function<void(int)> started) : WorkerTeam() {
  started_ = std::move(started);
  failures_.resize(static_cast<std::size_t>(workers));
  threads_.reserve(failures_.size());
  for (int worker = 1; worker < workers; ++worker)
    threads_.push_back(os::start_thread([this, worker] { serve(worker); }));
}

WorkerTeam::~WorkerTeam() {
  ending_ = true;
  rounds_.advance();
  threads_.clear();
}

void WorkerTeam::serve(int worker) {
  if (started_) started_(worker);
  const Timeline::Use use(timeline_, fmt::format("worker {}", worker));
  for (std::uint32_t seen = 0;;) {
    rounds_.await([&] { return rounds_.count() != seen; });
    ++seen;
    if (ending_) return;
    try {
      (*work_)(worker);
    } catch (...) {
      failures_[static_cast<std::size_t>(worker)] = std::current_exception();
    }
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) ends_.advance();
  }
}

void WorkerTeam::run(const std::function<void(int)>& work) {
  if (threads_.empty()) return work(0);
  work_ = &work;
  busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
  rounds_.advance();
  try {
    work(0);
  } catch (...) {
    failures_[0] = std::current_exception();
  }
  {
    const Span span(Activity::kJoin);
    ends_.await([&] { return busy_.load(std::memory_order_acquire) == 0; });
  }
  std::exception_ptr first;
  for (std::exception_ptr& failure : failures_) {
    const std::exception_ptr of_this_run = std::exchange(failure, nullptr);
    if (!first) first = of_this_run;
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace convoke::engine

#include "convoke/run/background_writer.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/os/clock.hpp"
#include "convoke/os/thread.hpp"

namespace convoke::run {

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool BackgroundWriter::ready(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return !work_; });
}

void BackgroundWriter::give(Work work) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !work_; });
  if (!thread_.joinable()) {
    try {
      thread_ = os::start_thread([this] { serve(); });
    } catch (const Error&) {
      lock.unlock();
      return carry_out(work);
    }
  }
  work_ = std::move(work);
  changed_.notify_all();
}

void BackgroundWriter::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !work_; });
}

std::vector<std::string> BackgroundWriter::failures() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failures_, {});
}

double BackgroundWriter::longest_seconds() {
  const std::lock_guard lock(mutex_);
  return longest_seconds_;
}

void BackgroundWriter::serve() {
  const Timeline::Use use(timeline_, "background writer");
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return work_ || ends_; });
      if (!work_) return;
    }
    carry_out(work_);  // give() does not touch it until it is empty
    {
      const std::lock_guard lock(mutex_);
      work_ = nullptr;
    }
    changed_.notify_all();
  }
}

void BackgroundWriter::carry_out(const Work& work) {
  const Span span(Activity::kWriting);
  const os::Stopwatch watch;
  std::string failure;
  try {
    work();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  const std::lock_guard lock(mutex_);
  longest_seconds_ = std::max(longest_seconds_, watch.seconds());
  if (!failure.empty()) failures_.push_back(std::move(failure));
}

}  // namespace convoke::run

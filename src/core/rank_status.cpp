#include "convoke/core/rank_status.hpp"

#include <atomic>

namespace convoke {
namespace {

std::atomic<const char*> current_phase{nullptr}, current_wait{nullptr};
std::atomic<std::int64_t> current_step{-1};
std::atomic<std::uint64_t> waits_begun{0};

}  // namespace

// If the wait changes between the loads, the number belongs to the later one, so that a new wait never looks
// older than it is.
RankStatus::Reading RankStatus::read() {
  Reading reading;
  reading.phase = current_phase.load(std::memory_order_relaxed);
  reading.step = current_step.load(std::memory_order_relaxed);
  reading.waits_for = current_wait.load(std::memory_order_acquire);
  reading.waits = waits_begun.load(std::memory_order_acquire);
  return reading;
}

const char* RankStatus::enter(const char* phase) {
  const char* const before = current_phase.load(std::memory_order_relaxed);
  current_phase.store(phase, std::memory_order_relaxed);
  return before;
}

void RankStatus::begin_step(std::int64_t step) { current_step.store(step, std::memory_order_relaxed); }

ScopedWait::ScopedWait(const char* what)
    : outermost_(current_wait.load(std::memory_order_relaxed) == nullptr) {
  if (!outermost_) return;
  waits_begun.store(waits_begun.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  current_wait.store(what, std::memory_order_release);
}

ScopedWait::~ScopedWait() {
  if (outermost_) current_wait.store(nullptr, std::memory_order_release);
}

}  // namespace convoke

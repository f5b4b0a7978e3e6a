#pragma once
#include <atomic>
#include <mutex>
#include <thread>

#include "convoke/sync/allreduce.hpp"

namespace convoke::engine {

/// A thread that makes progress on a large exchange while the rank computes. An MPI library moves data only
/// within its calls, and a socket takes a few MB at a time. A primitive of a large network takes 100 ms, in
/// which a link of 1 Gbit/s sends 12 MB. The thread sleeps most of the time. It calls MPI between start() and
/// stop() alone.
///
/// Measured (apps/bench/exchange_over_links.sh, two hosts, 1 Gbit/s, AMD EPYC; images/s, exposed ms):
/// VGG-16 2.31, 4170 without and 2.73, 2819 with it; in bf16 3.42, 1812 and 4.52, 426; ResNet-50, whose
/// primitives are short, 9.4 and 9.5.
class ProgressThread {
 public:
  /// `exchange` must outlive it.
  explicit ProgressThread(sync::AllReduce& exchange);
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  /// While the caller holds this, the thread does not call MPI. The caller needs it for its own calls from
  /// start() to stop(), and for these two.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  void start() { runs_ = true; }
  void stop() { runs_ = false; }

 private:
  void serve();

  sync::AllReduce& exchange_;
  std::mutex mutex_;
  bool runs_ = false;  // guarded by mutex_
  std::atomic<bool> ends_{false};
  std::jthread thread_;
};

}  // namespace convoke::engine

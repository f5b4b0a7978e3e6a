#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "convoke/core/timeline.hpp"
#include "convoke/os/waiting.hpp"

namespace convoke::engine {

/// The worker threads of a rank. The caller is worker 0. The others wait between calls. Starting a call
/// allocates nothing.
class WorkerTeam {
 public:
  /// `started` is the first call of each thread that the team starts, with the number of its worker. It must
  /// not throw.
  explicit WorkerTeam(int workers, std::function<void(int worker)> started = {});
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Runs work(0) .. work(size - 1), each on its own thread, and returns when all are done. Rethrows the
  /// exception of the lowest worker that threw; drops the exceptions of others.
  void run(const std::function<void(int worker)>& work);

 private:
  WorkerTeam() = default;
  void serve(int worker);

  Timeline* timeline_ = Timeline::current();  ///< of the thread that made the team, or null
  std::vector<std::jthread> threads_;
  std::vector<std::exception_ptr> failures_;
  std::function<void(int)> started_;
  const std::function<void(int)>* work_ = nullptr;
  os::EventCount rounds_, ends_;  ///< of calls of run()
  std::atomic<int> busy_{0};
  bool ending_ = false;
};

}  // namespace convoke::engine

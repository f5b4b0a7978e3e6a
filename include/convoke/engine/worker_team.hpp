#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "convoke/core/timeline.hpp"
#include "convoke/engine/model_memory.hpp"
#include "convoke/os/processors.hpp"
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

/// The worker threads of all ranks of a node, for work that they divide among them.
class NodeTeam {
 public:
  /// Starts the workers of this rank, as many as `memory` knows, each in its NUMA node except worker 0: that
  /// is the thread of the caller, which stays where it is. `place`: of the rank on its host. `memory` must
  /// outlive the team.
  NodeTeam(ModelMemory& memory, const os::WorkerPlace& place)
      : memory_(memory), mine_(place.workers, [place](int worker) {
          os::stay_in_numa_node({worker, place.workers, place.first, place.workers_of_host});
        }) {}

  WorkerTeam& mine() { return mine_; }  ///< the workers of this rank
  int size() const { return memory_.workers(); }

  /// Runs work(part) for every part in [0, size()), each on its own worker, and returns when all are done.
  /// Each rank of the node calls it with the same work. The work must not throw.
  void run(const std::function<void(int part)>& work) {
    mine_.run([this, &work](int worker) { work(memory_.first_worker() + worker); });
    if (memory_.workers() == mine_.size()) return;
    const Span span(Activity::kExchange, "other ranks of the node");
    memory_.barrier();
  }

 private:
  ModelMemory& memory_;
  WorkerTeam mine_;
};

}  // namespace convoke::engine

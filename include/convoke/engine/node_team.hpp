#pragma once
#include <functional>

#include "convoke/core/timeline.hpp"
#include "convoke/engine/model_memory.hpp"
#include "convoke/engine/worker_team.hpp"
#include "convoke/os/processors.hpp"

namespace convoke::engine {

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

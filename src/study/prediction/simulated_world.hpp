#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "convoke/study/prediction/step_prediction.hpp"

// The exchanges between ranks, in simulated time.

namespace convoke::study {

/// The time of an exchange.
struct ExchangeTime {
  double end = 0;               ///< seconds from the start until the last rank has the result
  double handling_seconds = 0;  ///< the most time that a rank's core has spent on it
};

/// The core of a simulated rank.
struct Core {
  double now = 0;       ///< until when its time is known, seconds
  double handling = 0;  ///< time spent on the exchange
  void spend(double seconds) {
    now += seconds;
    handling += seconds;
  }
};

/// The links of the nodes. Each sends its messages one after another, and receives others at the same time.
class Network {
 public:
  Network(const Cluster& cluster, int nodes) : cluster_(cluster), links_(static_cast<std::size_t>(nodes)) {}

  /// Puts bytes that leave a node, or arrive at it, behind those before; returns when the last one is over.
  double leave(int node, double bytes, double earliest) {
    return occupy(links_[static_cast<std::size_t>(node)].sends_until, bytes, earliest);
  }
  double arrive(int node, double bytes, double earliest) {
    return occupy(links_[static_cast<std::size_t>(node)].receives_until, bytes, earliest);
  }
  /// Sends a message, and returns when it has arrived.
  double send(int from, int to, double bytes, double at);

  const LinkSpeed& between() const { return cluster_.link; }
  const LinkSpeed& within() const { return cluster_.within; }
  const LinkSpeed& link(int from, int to) const { return from == to ? within() : between(); }

 private:
  struct Link {
    double sends_until = 0, receives_until = 0;
  };
  double occupy(double& until, double bytes, double earliest) const;

  Cluster cluster_;
  std::vector<Link> links_;
};

/// Simulated time: wakes ranks in its order.
class SimulatedWorld {
 public:
  SimulatedWorld(const Cluster& cluster, int ranks)
      : network(cluster, cluster.nodes_for(ranks)),
        cores(static_cast<std::size_t>(ranks)),
        ranks_per_node_(cluster.ranks_per_node) {}

  int node_of(int rank) const { return rank / ranks_per_node_; }
  Core& core(int rank) { return cores[static_cast<std::size_t>(rank)]; }

  enum class Reason : std::uint8_t {
    kComputed,  ///< a piece of the rank's computation is over
    kArrived,   ///< a message, which a rank that computes does not notice
  };
  /// `sum`: the number of the sum to which the message belongs.
  struct Wakeup {
    double time = 0;
    std::uint64_t number = 0;  ///< wakeups at the same time come in the order in which they were made
    int rank = 0;
    int sum = 0;
    Reason reason = Reason::kComputed;
  };
  void wake(int rank, double time, Reason reason, int sum = 0) {
    queue_.push({time, made_++, rank, sum, reason});
  }
  /// Passes on all wakeups, also those that are made meanwhile.
  void run(const std::function<void(const Wakeup&)>& handle);

  /// Returns when the last core ends, and the most time that one has spent on the exchange.
  ExchangeTime time() const {
    return {std::ranges::max(cores, {}, &Core::now).now,
            std::ranges::max(cores, {}, &Core::handling).handling};
  }

  Network network;
  std::vector<Core> cores;  ///< by rank

 private:
  struct Later {
    bool operator()(const Wakeup& a, const Wakeup& b) const {
      return a.time != b.time ? a.time > b.time : a.number > b.number;
    }
  };
  int ranks_per_node_;
  std::uint64_t made_ = 0;
  std::priority_queue<Wakeup, std::vector<Wakeup>, Later> queue_;
};

inline double Network::occupy(double& until, double bytes, double earliest) const {
  until = std::max(until, earliest) + bytes / between().bytes_per_second;
  return until;
}

inline double Network::send(int from, int to, double bytes, double at) {
  if (from == to) return at + within().latency_seconds + bytes / within().bytes_per_second;
  const double latency = between().latency_seconds;
  const double left = leave(from, bytes, at);
  const double first = left - bytes / between().bytes_per_second + latency;
  return std::max(left + latency, arrive(to, bytes, first));
}

inline void SimulatedWorld::run(const std::function<void(const Wakeup&)>& handle) {
  while (!queue_.empty()) {
    const Wakeup next = queue_.top();
    queue_.pop();
    handle(next);
  }
}

/// A step in which the ranks sum their gradients. `computation`: seconds of each rank, without the update.
ExchangeTime sum_gradients(const StepProfile& profile, const Cluster& cluster, int ranks, double computation);

}  // namespace convoke::study

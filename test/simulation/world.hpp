#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "fiber.hpp"

// Ranks of one process that run the product's own protocols over a simulated MPI (communicator.cpp), in
// simulated time. Everything that happens follows from one seed: which rank runs next, how long messages and
// collectives take, whether a send waits for its receiver, and the faults.
namespace simulation {

/// What a rank throws when the job has been killed; no protocol catches it.
struct Killed {};

/// A broken rule of MPI, or of a protocol.
struct Broken : std::logic_error {
  using std::logic_error::logic_error;
};

/// What goes wrong in a run besides slow messages and sleeps; times are in seconds.
struct Faults {
  double kill_at = -1;  ///< all ranks are killed then; below 0: never
  double stop_at = -1;  ///< `stopped` does nothing from then on, for `stop_seconds`
  double stop_seconds = 0;
  int stopped = 0;
  std::int64_t lose = -1;  ///< the number of the message, or of the part of a collective, that is lost
};

enum class End {
  kDone,    ///< all ranks have returned
  kKilled,  ///< by the fault
  kStands,  ///< ranks wait for ever
};

/// One job: ranks that run a function.
class World {
 public:
  World(int ranks, std::uint64_t seed, const Faults& faults);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Runs `main` on each rank, with the communicator of all. Throws Broken, or what a rank throws.
  End run(const std::function<void(const convoke::mpi::Communicator&)>& main);
  /// Returns what each rank waits for.
  std::string waits() const;

  /// The world whose ranks run; null: real time.
  static World* current();
  double now() const { return now_; }
  int rank() const { return running_; }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  /// Lets other ranks run; the running rank goes on after so many seconds.
  void sleep(double seconds);
  /// The running rank computes for so many seconds; others run.
  void work(double seconds);
  /// Lets other ranks run until `over` is true.
  void wait(const char* what, std::function<bool()> over);
  /// The running rank has done something else than sleep: the job does not stand still.
  void moves() { moved_ = now_; }
  double idle() const { return now_ - moved_; }  ///< for how long no rank has
  /// Something can happen `seconds` from now: a message arrives.
  double later(double seconds);
  /// The time that a message needs: mostly microseconds, at times seconds.
  double delay();
  /// True for the message that is lost.
  bool loses() { return parts_++ == faults_.lose; }

  /// A message, or the part of a rank in a collective.
  struct Message {
    std::vector<std::byte> bytes;
    std::size_t number = 0;  ///< of those between two ranks with its tag, lost ones too
    double arrives = std::numeric_limits<double>::infinity();
    bool received = false;
  };
  struct Collective {
    std::string what;  ///< operation, root and size: equal on all ranks
    std::map<int, std::vector<std::byte>> parts;
    std::map<int, double> ready;  ///< when a rank gets the result; drawn when all parts are there
  };
  /// The ranks of a communicator, and what they have sent.
  struct Group {
    std::vector<int> ranks;
    std::map<std::tuple<int, int, int>, std::vector<std::shared_ptr<Message>>> messages;  ///< from, to, tag
    std::map<std::tuple<int, int, int>, std::size_t> sends, receives;                     ///< started ones
    std::vector<std::size_t> joined;  ///< collectives, by rank
    std::vector<std::shared_ptr<Collective>> collectives;
    std::map<std::pair<std::size_t, int>, std::shared_ptr<Group>> parts;  ///< by collective and color
  };
  const std::shared_ptr<Group>& all() const { return all_; }

  std::int64_t on_the_way = 0;                             ///< messages that were not received
  std::map<convoke::mpi::Tag, std::int64_t> sent;          ///< messages
  std::map<std::int64_t, std::function<bool()>> requests;  ///< true when they are over
  std::int64_t made = 0;
  std::vector<std::shared_ptr<void>> memory;  ///< that ranks share

 private:
  struct Rank {
    std::unique_ptr<Fiber> fiber;
    double wakes = 0;
    std::function<bool()> over;  ///< empty: it waits for the time alone
    const char* what = "its start";
    bool done = false;
  };
  bool ready(int rank);
  void back();

  std::mt19937_64 random_;
  Faults faults_;
  std::shared_ptr<Group> all_;
  std::vector<Rank> ranks_;
  std::multiset<double> times_;  ///< when something can happen
  double now_ = 0, moved_ = 0;   ///< the time; when a rank last did something but sleep
  int running_ = -1;
  bool killed_ = false;
  std::int64_t parts_ = 0;
  std::exception_ptr failure_;
};

}  // namespace simulation

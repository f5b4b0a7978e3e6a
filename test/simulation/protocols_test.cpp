// The protocols between ranks under faults: each seed is a job that is killed, stands still or is stopped,
// and begins again on other ranks until all its members are trained. The protocols are the product's own
// code: the queue of members (train::MemberQueue), stopping (run::StopCalls, run::StopAgreement), the queue
// of micro-batches in the memory of a node (engine::WorkQueue), the exchange of gradients (sync::AllReduce),
// and errors of one rank (mpi::together).
//   SEEDS=10000 simulation_test        so many seeds, from 0 on
//   SEED=1234 simulation_test          one seed, with what happens
#include <cinttypes>
#include <cstdio>

#include "convoke/core/error.hpp"
#include "convoke/engine/work_queue.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/run/stopping.hpp"
#include "convoke/sync/allreduce.hpp"
#include "convoke/train/member_queue.hpp"
#include "support/catch.hpp"
#include "world.hpp"

using namespace convoke;
using simulation::Broken;
using simulation::End;
using simulation::World;

namespace {

/// The model of a member: all sums of its steps.
struct State {
  std::int64_t steps = 0;
  std::uint64_t model = 0;
  friend bool operator==(const State&, const State&) = default;
};

/// A job and what survives its end: the checkpoints.
struct Job {
  std::uint64_t seed = 0;
  std::int64_t members = 1, steps = 1, every = 1;  ///< `every`: steps between checkpoints
  std::size_t elements = 1;                        ///< of the gradients
  bool exact = false;                              ///< they are summed in fixed point
  std::int64_t slow_from = -1;  ///< steps take a second or two from then on; below 0: never
  std::int64_t failing = -1;    ///< the member in which a rank throws; below 0: none
  std::map<std::int64_t, State> saved;
};

constexpr std::int64_t kSamples = 6;

/// A small whole number, so that fp32 sums are exact in any order.
float gradient(const Job& job, std::int64_t member, std::int64_t step, std::int64_t sample,
               std::size_t element) {
  std::uint64_t x =
      job.seed + 1000003U * static_cast<std::uint64_t>(member * 9973 + step * 131 + sample) + element;
  x ^= x >> 33U;
  x *= 0xff51afd7ed558ccdULL;
  return static_cast<float>(static_cast<std::int64_t>(x >> 40U) % 1000);
}

template <class T>
void learn(State& state, const std::vector<T>& sums) {
  for (const T sum : sums)
    state.model = state.model * 6364136223846793005ULL + static_cast<std::uint64_t>(sum) + 1;
  ++state.steps;
}

/// The slow loop: what a member must have learned after all its steps.
State expected(const Job& job, std::int64_t member) {
  State state;
  while (state.steps < job.steps) {
    std::vector<float> sums(job.elements);
    for (std::int64_t sample = 0; sample < kSamples; ++sample) {
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += gradient(job, member, state.steps, sample, i);
    }
    learn(state, sums);
  }
  return state;
}

/// A record of the ranks of one job, for the checks.
struct Record {
  std::vector<std::map<std::int64_t, State>> trained;  ///< by rank: the members that it trained
  std::vector<std::int64_t> reason;                    ///< by rank: why the job stopped
  std::vector<int> group;                              ///< by rank
  std::vector<int> late;                               ///< by rank: its steps after it must know of a stop
  double stopped = -1;                                 ///< when a group first agreed to stop; below 0: never
  double known_after = 0;                              ///< seconds after which all groups have got the call
};

/// What one rank does.
class Rank {
 public:
  Rank(Job& job, const mpi::Communicator& world, int groups, Record& record)
      : job_(job),
        world_(world),
        record_(record),
        groups_(divide(job, world, groups)),
        memory_(groups_.group, {.parameters = 1, .sums = 1}, 1),
        micro_batches_(memory_, groups_.group, false) {
    record.group[index()] = static_cast<int>(groups_.mine);
  }

  /// As train_members: members from the queue until it is empty or the job stops.
  void run(run::Deadline deadline) {
    train::MemberQueue queue(groups_, world_);
    run::StopCalls calls(world_, groups_.group, [&] { queue.serve(); });
    run::StopAgreement stop(groups_.group, deadline, calls);
    run::StopReason reason;
    while (const std::optional<std::int64_t> member = queue.next()) {
      reason = train_or_leave(*member, stop);
      if (reason) break;
    }
    calls.wait_for_all();
    auto number = static_cast<double>(reason.number());
    world_.max({&number, 1});
    record_.reason[index()] = static_cast<std::int64_t>(number);
  }

 private:
  static train::Groups divide(const Job& job, const mpi::Communicator& world, int groups) {
    const int mine = world.rank() * groups / world.size();
    return {job.members, groups, mine, world.split(mine, world.rank()), world.size() % groups == 0};
  }
  std::size_t index() const { return static_cast<std::size_t>(world_.rank()); }

  run::StopReason train_or_leave(std::int64_t member, run::StopAgreement& stop) {
    try {
      return job_.exact ? train<std::int64_t>(member, stop) : train<float>(member, stop);
    } catch (const mpi::GroupError&) {
      return {};
    } catch (const Error&) {
      if (groups_.group.size() > 1) throw Broken("an error of one rank alone");
      return {};
    }
  }

  /// T: what the ranks sum, floats or fixed point.
  template <class T>
  run::StopReason train(std::int64_t member, run::StopAgreement& stop) {
    const mpi::Communicator& group = groups_.group;
    // As newest_for_all: the root reads the checkpoint, and all ranks get its bytes.
    const std::string bytes = mpi::on_root(group, [&] {
      const State& saved = job_.saved[member];
      return fmt::format("{} {}", saved.steps, saved.model);
    });
    State state;
    std::sscanf(bytes.c_str(), "%" SCNd64 " %" SCNu64, &state.steps, &state.model);
    record_.trained[index()][member] = state;
    std::vector<T> sums(job_.elements);
    sync::Exchange arrays;
    if constexpr (std::is_same_v<T, float>) {
      arrays.floats = sums;
    } else {
      arrays.fixed = sums;
    }
    sync::AllReduce exchange(group, arrays, {.bucket_bytes = 64, .progress_thread_bytes = {}});
    while (state.steps < job_.steps) {
      step(member, state.steps, sums, exchange);
      learn(state, sums);
      record_.trained[index()][member] = state;
      if (record_.stopped >= 0 && World::current()->now() > record_.stopped + record_.known_after)
        ++record_.late[index()];
      mpi::together(group, [&] {
        const bool fails = member == job_.failing && group.rank() == group.size() - 1;
        if (fails && state.steps > job_.steps / 2) throw Error("this rank fails");
      });
      const run::StopReason reason = stop.after_step();
      if (reason && record_.stopped < 0) record_.stopped = World::current()->now();
      if (group.root() && (reason || state.steps % job_.every == 0)) job_.saved[member] = state;
      if (reason) return reason;
    }
    if (group.root()) job_.saved[member] = state;
    return {};
  }

  /// Returns the samples of a step that this rank computes, each a micro-batch. Ranks take them from each
  /// other.
  std::vector<std::int64_t> take_samples() {
    const engine::MicroBatchShares equal(groups_.group.size());
    const engine::MicroBatchRange own = equal.micro_batches(kSamples, groups_.group.rank());
    std::vector<std::int64_t> samples;
    if (!micro_batches_.shares(kSamples)) {
      for (std::int64_t i = 0; i < own.count; ++i) samples.push_back(own.first + i);
      return samples;
    }
    World& world = *World::current();
    micro_batches_.begin_step(kSamples, equal);
    for (std::int64_t i = 0; i < own.count && micro_batches_.take(0, 1); ++i) {
      samples.push_back(own.first + i);
      world.sleep(1e-4 * static_cast<double>(world.below(30)));
    }
    while (const auto sample = micro_batches_.take_last()) {
      samples.push_back(*sample);
      world.sleep(1e-4 * static_cast<double>(world.below(30)));
    }
    micro_batches_.end(0);
    return samples;
  }

  // As a micro-batch engine's backward: pieces of the gradients become complete, from the first on.
  template <class T>
  void step(std::int64_t member, std::int64_t number, std::vector<T>& sums, sync::AllReduce& exchange) {
    World& world = *World::current();
    exchange.begin_step();
    if (job_.slow_from >= 0 && number >= job_.slow_from)
      world.work(1 + 1e-3 * static_cast<double>(world.below(1000)));
    const std::vector<std::int64_t> samples = take_samples();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] = 0;
      for (const std::int64_t sample : samples)
        sums[i] += static_cast<T>(gradient(job_, member, number, sample, i));
      if ((i + 1) % 16 != 0) continue;
      if (job_.slow_from < 0 && world.below(2) == 0)
        world.work(1e-3 * static_cast<double>(1 + world.below(60)));
      exchange.gradients_ready(i + 1);
    }
    while (world.below(3) != 0) {
      exchange.poll();
      world.sleep(1e-4);
    }
    while (!exchange.finish_gradients(world.below(2) == 0)) world.sleep(1e-4);
  }

  Job& job_;
  const mpi::Communicator& world_;
  Record& record_;
  train::Groups groups_;
  engine::ModelMemory memory_;
  engine::WorkQueue micro_batches_;
};

std::uint64_t draw(std::mt19937_64& random, std::uint64_t below) { return random() % below; }

simulation::Faults draw_faults(std::mt19937_64& random, int ranks) {
  simulation::Faults faults;
  if (draw(random, 3) == 0) faults.kill_at = static_cast<double>(draw(random, 3000)) * 1e-3;
  if (draw(random, 3) == 0) {
    faults.stopped = static_cast<int>(draw(random, static_cast<std::uint64_t>(ranks)));
    faults.stop_at = static_cast<double>(draw(random, 2000)) * 1e-3;
    faults.stop_seconds = static_cast<double>(draw(random, 10000)) * 1e-3;
  }
  if (draw(random, 4) == 0) faults.lose = static_cast<std::int64_t>(draw(random, 600));
  return faults;
}

/// Runs the job once. Throws Broken if a rule was broken.
End run_once(Job& job, std::mt19937_64& random, bool faulty, bool tell) {
  const int ranks = 1 + static_cast<int>(draw(random, 6));
  const int groups = static_cast<int>(std::min<std::int64_t>(
      job.members, 1 + static_cast<std::int64_t>(draw(random, static_cast<std::uint64_t>(ranks)))));
  const simulation::Faults faults = faulty ? draw_faults(random, ranks) : simulation::Faults();
  // Some ranks want to stop at a time of their own.
  std::vector<double> stops(static_cast<std::size_t>(ranks), -1);
  if (faulty && draw(random, 2) == 0) {
    for (double& stop : stops) {
      if (draw(random, 2) == 0) stop = static_cast<double>(draw(random, 8000)) * 1e-3;
    }
  }
  Record record;
  record.trained.resize(static_cast<std::size_t>(ranks));
  record.reason.assign(static_cast<std::size_t>(ranks), 0);
  record.group.assign(static_cast<std::size_t>(ranks), 0);
  record.late.assign(static_cast<std::size_t>(ranks), 0);
  // The agreement, the call and passing it on need up to 5 s each, and a stopped rank does not read it.
  record.known_after = 15 + faults.stop_seconds;
  const std::map<std::int64_t, State> before = job.saved;

  World world(ranks, random(), faults);
  if (tell) {
    fmt::print("{} ranks in {} groups, killed at {}, rank {} stopped at {} for {} s, loses {}\n", ranks,
               groups, faults.kill_at, faults.stopped, faults.stop_at, faults.stop_seconds, faults.lose);
  }
  const End end = world.run([&](const mpi::Communicator& all) {
    const double stop = stops[static_cast<std::size_t>(all.rank())];
    run::Deadline deadline;
    if (stop >= 0) {
      deadline =
          std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                 std::chrono::duration<double>(stop));
    }
    Rank(job, all, groups, record).run(deadline);
  });
  if (tell) {
    fmt::print("{} after {:.3f} s; {}\n",
               end == End::kDone     ? "done"
               : end == End::kKilled ? "killed"
                                     : "stands still",
               world.now(), world.waits());
  }

  if (world.sent[mpi::Tag::kStopCall] > 2 * (groups - 1) + ranks) throw Broken("too many calls");

  // No member is trained by two groups, and the ranks of a group have one model of it.
  std::map<std::int64_t, int> trainer;
  for (std::size_t rank = 0; rank < record.trained.size(); ++rank) {
    for (const auto& [member, state] : record.trained[rank]) {
      const auto [group, first] = trainer.emplace(member, record.group[rank]);
      if (group->second != record.group[rank])
        throw Broken(fmt::format("two groups trained member {}", member));
      for (std::size_t other = 0; other < rank && end == End::kDone; ++other) {
        if (record.group[other] != record.group[rank]) continue;
        if (record.trained[other][member] != state)
          throw Broken(fmt::format("two models of member {}", member));
      }
    }
  }
  // What is saved is never older than before.
  for (const auto& [member, state] : before) {
    if (job.saved.at(member).steps < state.steps) throw Broken(fmt::format("member {} went back", member));
  }
  if (end != End::kDone) return end;
  // All ranks know why the job has stopped. If it has not, each member was trained.
  for (const std::int64_t reason : record.reason) {
    if (reason != record.reason[0]) throw Broken("ranks disagree on why the job stopped");
  }
  // All groups stop at their next agreement.
  for (const int late : record.late) {
    if (record.reason[0] != 0 && late > 33) throw Broken("a group went on after the job had stopped");
  }
  const bool wanted = std::ranges::any_of(stops, [](double stop) { return stop >= 0; });
  if (record.reason[0] != 0 && !wanted) throw Broken("the job stopped, and no rank wanted to");
  if (record.reason[0] == 0 && std::ssize(trainer) != job.members) throw Broken("a member was lost");
  return record.reason[0] == 0 ? End::kDone : End::kKilled;
}

struct Counts {
  int jobs = 0, killed = 0, stood = 0;
};

void run_seed(std::uint64_t seed, bool tell, Counts& counts) {
  std::mt19937_64 random(seed);
  Job job;
  job.seed = seed;
  job.members = 1 + static_cast<std::int64_t>(draw(random, 6));
  job.steps = 1 + static_cast<std::int64_t>(draw(random, 12));
  if (draw(random, 6) == 0) job.steps = 100 + static_cast<std::int64_t>(draw(random, 100));
  if (draw(random, 12) == 0) job.slow_from = job.steps / 2;
  job.every = 1 + static_cast<std::int64_t>(draw(random, 5));
  job.elements = 1 + draw(random, 64);
  job.exact = job.elements % 2 == 0;
  if (draw(random, 5) == 0)
    job.failing = static_cast<std::int64_t>(draw(random, static_cast<std::uint64_t>(job.members)));
  End end = End::kKilled;
  for (int attempt = 0; end != End::kDone; ++attempt) {
    end = run_once(job, random, attempt < 3, tell);
    ++counts.jobs;
    counts.killed += end == End::kKilled ? 1 : 0;
    counts.stood += end == End::kStands ? 1 : 0;
  }
  for (std::int64_t member = 0; member < job.members; ++member) {
    if (member != job.failing && job.saved[member] != expected(job, member)) {
      throw Broken(fmt::format("member {} has learned something else", member));
    }
  }
}

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("whatever fails, every member ends with the model of a plain loop, and no rank waits for ever") {
  const bool one = std::getenv("SEED") != nullptr;
  const std::uint64_t first = number("SEED", 0), count = one ? 1 : number("SEEDS", 2000);
  Counts counts;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::string failure;
    try {
      run_seed(seed, one, counts);
    } catch (const std::exception& error) {
      failure = error.what();
    }
    INFO("SEED=" << seed << " simulation_test: " << failure);
    CHECK(failure.empty());
  }
  if (!one) {
    CHECK(counts.jobs > static_cast<int>(count));
    CHECK(counts.killed > static_cast<int>(count / 4));
    CHECK(counts.stood > static_cast<int>(count / 40));
  }
}

TEST_CASE("the messages of a stop grow with the number of groups, not with its square") {
  constexpr int kGroups = 40;
  World world(kGroups, 1, {});
  const End end = world.run([&](const mpi::Communicator& all) {
    run::StopCalls calls(all, all.split(all.rank(), 0));
    calls.call(run::StopReason::out_of_time());  // all at the same time, as with a signal to the whole job
    calls.wait_for_all();
  });
  CHECK(end == End::kDone);
  CHECK(world.sent[mpi::Tag::kStopCall] <= 2 * (kGroups - 1));  // fewer: some hear of it before they call
  CHECK(world.sent[mpi::Tag::kStopCall] >= kGroups - 1);
}

TEST_CASE("ranks stop soon, also if their steps have become a thousand times slower") {
  for (const bool epoch : {false, true}) {
    World world(3, 1, {});
    const End end = world.run([&](const mpi::Communicator& all) {
      run::StopCalls calls(all, all);
      const auto in_a_while = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
      run::StopAgreement stop(all, all.rank() == 1 ? run::Deadline(in_a_while) : std::nullopt, calls);
      for (int step = 0; step < 300; ++step) {
        World::current()->work(1e-3);
        if (stop.after_step()) throw Broken("nobody wants to stop yet");
      }
      if (epoch) stop.begin_epoch();
      int slow = 0;
      do World::current()->work(2);
      while (++slow < 100 && !stop.after_step());
      CHECK(slow <= (epoch ? 1 : 32));
      calls.wait_for_all();
    });
    CHECK(end == End::kDone);
  }
}

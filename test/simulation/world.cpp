#include "world.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace simulation {
namespace {

World* g_current = nullptr;

// A job in which no rank has done anything but sleep for so long stands still. Longer than any fault.
constexpr double kPatience = 60;

}  // namespace

World* World::current() { return g_current; }

World::World(int ranks, std::uint64_t seed, const Faults& faults)
    : random_(seed),
      faults_(faults),
      all_(std::make_shared<Group>()),
      ranks_(static_cast<std::size_t>(ranks)) {
  for (int rank = 0; rank < ranks; ++rank) all_->ranks.push_back(rank);
  all_->joined.resize(ranks_.size());
  g_current = this;
}

World::~World() { g_current = nullptr; }

double World::later(double seconds) {
  times_.insert(now_ + seconds);
  return now_ + seconds;
}

double World::delay() {
  if (below(50) == 0) return 0.05 * static_cast<double>(1 + below(100));
  constexpr double kScales[] = {1e-6, 1e-5, 1e-4, 1e-3};
  return kScales[below(std::size(kScales))] * static_cast<double>(1 + below(10));
}

void World::work(double seconds) {
  sleep(seconds);
  moves();
}

void World::back() {
  ranks_[static_cast<std::size_t>(running_)].fiber->pause();
  if (killed_) throw Killed();
}

void World::sleep(double seconds) {
  Rank& rank = ranks_[static_cast<std::size_t>(running_)];
  rank.wakes = later(seconds);
  rank.over = nullptr;
  rank.what = "the clock";
  back();
}

void World::wait(const char* what, std::function<bool()> over) {
  Rank& rank = ranks_[static_cast<std::size_t>(running_)];
  rank.wakes = now_;
  rank.over = std::move(over);
  rank.what = what;
  back();
  moves();
}

std::string World::waits() const {
  std::string text;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    text += fmt::format("{}rank {}: {}", i == 0 ? "" : ", ", i, ranks_[i].done ? "done" : ranks_[i].what);
  }
  return text;
}

bool World::ready(int rank) {
  const Rank& it = ranks_[static_cast<std::size_t>(rank)];
  const bool stopped = rank == faults_.stopped && faults_.stop_at >= 0 && now_ >= faults_.stop_at &&
                       now_ < faults_.stop_at + faults_.stop_seconds;
  return !it.done && !stopped && it.wakes <= now_ && (!it.over || it.over());
}

End World::run(const std::function<void(const convoke::mpi::Communicator&)>& main) {
  if (faults_.stop_at >= 0) times_.insert(faults_.stop_at + faults_.stop_seconds);
  if (faults_.kill_at >= 0) times_.insert(faults_.kill_at);
  for (Rank& rank : ranks_) {
    rank.fiber = std::make_unique<Fiber>([this, &main, &rank] {
      try {
        if (!killed_) main(convoke::mpi::Communicator::wrap(0));
      } catch (const Killed&) {
      } catch (...) {
        if (!failure_) failure_ = std::current_exception();
      }
      rank.done = true;
    });
  }
  const auto run_rank = [&](int rank) {
    running_ = rank;
    ranks_[static_cast<std::size_t>(rank)].fiber->resume();
    running_ = -1;
  };
  End end = End::kDone;
  std::vector<int> can;
  while (!killed_ && std::ranges::any_of(ranks_, [](const Rank& rank) { return !rank.done; })) {
    can.clear();
    for (int rank = 0; rank < std::ssize(ranks_); ++rank) {
      if (ready(rank)) can.push_back(rank);
    }
    if (!can.empty()) {
      run_rank(can[below(can.size())]);
      if (!failure_) continue;
    }
    times_.erase(times_.begin(), times_.upper_bound(now_));
    const bool stands = times_.empty() || *times_.begin() > moved_ + kPatience;
    if (!failure_ && !stands) now_ = *times_.begin();
    const bool kill = faults_.kill_at >= 0 && now_ >= faults_.kill_at;
    if (!failure_ && !stands && !kill) continue;
    end = stands ? End::kStands : End::kKilled;
    if (stands && !failure_ && faults_.lose < 0) {
      failure_ = std::make_exception_ptr(Broken("the job stands still: " + waits()));
    }
    killed_ = true;
  }
  for (int rank = 0; rank < std::ssize(ranks_); ++rank) {
    while (!ranks_[static_cast<std::size_t>(rank)].done) run_rank(rank);
  }
  if (failure_) std::rethrow_exception(failure_);
  if (end == End::kDone && faults_.lose < 0 && on_the_way != 0) throw Broken("a message was never received");
  return end;
}

}  // namespace simulation

// Time within a simulated world: the clock that std::chrono and os::Stopwatch read, and sleeps.
extern "C" {

int clock_gettime(clockid_t id, timespec* time) noexcept {
  const simulation::World* world = simulation::World::current();
  if (world == nullptr) return static_cast<int>(syscall(SYS_clock_gettime, id, time));
  const double seconds = 1e6 + world->now();
  time->tv_sec = static_cast<time_t>(seconds);
  time->tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9);
  return 0;
}

// A sleeper may be woken late, the later the longer nothing has happened: a job that stands still is soon
// found.
int nanosleep(const timespec* time, timespec* left) {
  simulation::World* world = simulation::World::current();
  if (world == nullptr) return static_cast<int>(syscall(SYS_nanosleep, time, left));
  const double asked = static_cast<double>(time->tv_sec) + 1e-9 * static_cast<double>(time->tv_nsec);
  world->sleep(asked * static_cast<double>(1 + world->below(60)) + world->idle() / 8);
  return 0;
}
}

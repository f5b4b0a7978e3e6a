#pragma once
#include <algorithm>
#include <barrier>
#include <thread>
#include <vector>

#include "convoke/data_prep/team.hpp"

/// Lets threads act as a team, with MPI's barrier and broadcast; only one thread at a time uses HDF5.
class Threads {
 public:
  explicit Threads(int count) : count_(count), all_(count) {}

  convoke::data_prep::Team member(int index) {
    convoke::data_prep::Team team{index, count_};
    team.barrier = [this] { all_.arrive_and_wait(); };
    team.broadcast = [this, index](std::span<std::uint64_t> values) {
      if (index == 0) shared_.assign(values.begin(), values.end());
      all_.arrive_and_wait();
      std::copy(shared_.begin(), shared_.end(), values.begin());
      all_.arrive_and_wait();
    };
    team.gather = [this, index](std::span<const double> mine) {
      std::vector<double> all;
      for (int other = 0; other < count_; ++other) {
        if (other == index) gathered_.insert(gathered_.end(), mine.begin(), mine.end());
        all_.arrive_and_wait();
      }
      if (index == 0) all.swap(gathered_);
      all_.arrive_and_wait();
      return all;
    };
    return team;
  }

 private:
  int count_;
  std::barrier<> all_;
  std::vector<std::uint64_t> shared_;
  std::vector<double> gathered_;
};

/// Calls `work` as each of `count` processes, in threads.
template <class Work>
void as_team(int count, const Work& work) {
  Threads threads(count);
  std::vector<std::thread> team;
  for (int index = 0; index < count; ++index) {
    team.emplace_back([&, index] { work(threads.member(index)); });
  }
  for (std::thread& thread : team) thread.join();
}

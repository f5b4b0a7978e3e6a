#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace convoke::data_prep {

/// The processes that prepare together, each calling prepare() with the same options; by default this one
/// alone. Under MPI: rank, size and collectives from or to rank 0 (data preparation itself knows nothing of
/// MPI). A process that throws leaves the others waiting: end the job then.
struct Team {
  int index = 0;
  int count = 1;
  std::function<void()> barrier = [] {};
  std::function<void(std::span<std::uint64_t>)> broadcast = [](std::span<std::uint64_t>) {};
  /// The numbers of all processes one after the other, at index 0; elsewhere empty.
  std::function<std::vector<double>(std::span<const double>)> gather = [](std::span<const double> mine) {
    return std::vector<double>(mine.begin(), mine.end());
  };
};

/// What process `index` of `count` does of n things: first..last-1.
struct Share {
  Share(std::int64_t n, const Team& team)
      : first(n * team.index / team.count), last(n * (team.index + 1) / team.count) {}
  std::int64_t size() const { return last - first; }
  std::int64_t first, last;
};

}  // namespace convoke::data_prep

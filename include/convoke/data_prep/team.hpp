#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace convoke::data_prep {

/// The processes that prepare together; each calls prepare() with the same options. By default this process
/// alone. Under MPI: rank, size and collectives from or to rank 0 (data preparation itself does not use MPI).
/// If a process throws, the others wait; end the job then.
struct Team {
  int index = 0;
  int count = 1;
  std::function<void()> barrier = [] {};
  std::function<void(std::span<std::uint64_t>)> broadcast = [](std::span<std::uint64_t>) {};
  /// Returns the numbers of all processes, one process after the other, at index 0; empty elsewhere.
  std::function<std::vector<double>(std::span<const double>)> gather = [](std::span<const double> mine) {
    return std::vector<double>(mine.begin(), mine.end());
  };
};

/// The share of process `index` of `count` in n things: first..last-1.
struct Share {
  Share(std::int64_t n, const Team& team)
      : first(n * team.index / team.count), last(n * (team.index + 1) / team.count) {}
  std::int64_t size() const { return last - first; }
  std::int64_t first, last;
};

}  // namespace convoke::data_prep

#pragma once
#include <cstddef>
#include <cstring>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "convoke/mpi/communicator.hpp"
#include "convoke/mpi/together.hpp"

namespace convoke::run {

/// Runs `work` on rank 0 of `group` and returns its result on all ranks: nothing, a text, or a value whose
/// bytes can be sent, such as a number. All ranks throw its errors as mpi::agree() does. Collective.
template <class Work>
std::invoke_result_t<const Work&> on_root(const mpi::Communicator& group, const Work& work) {
  using Result = std::invoke_result_t<const Work&>;
  if constexpr (std::is_void_v<Result>) {
    mpi::together(group, [&] {
      if (group.root()) work();
    });
  } else {
    Result result = mpi::together(group, [&] { return group.root() ? work() : Result(); });
    if constexpr (std::is_same_v<Result, std::string>) {
      return group.broadcast(std::move(result));
    } else {
      static_assert(std::is_trivially_copyable_v<Result>);
      group.broadcast(std::as_writable_bytes(std::span(&result, 1)));
      return result;
    }
  }
}

/// Returns the sum, the largest or the smallest of the values of the ranks, on all ranks. Collective.
template <class Number>
Number sum_of(const mpi::Communicator& group, Number value) {
  group.sum(std::span(&value, 1));
  return value;
}
inline double max_of(const mpi::Communicator& group, double value) {
  group.max(std::span(&value, 1));
  return value;
}
inline double min_of(const mpi::Communicator& group, double value) {
  group.min(std::span(&value, 1));
  return value;
}

/// Returns true on all ranks if `flag` is true on any rank. Collective.
inline bool any_of(const mpi::Communicator& group, bool flag) { return max_of(group, flag ? 1 : 0) > 0; }

/// Returns the values of all ranks, in the order of the ranks, at `root`; empty elsewhere. `mine`: a vector
/// or a span of plain values, of any length. Collective.
template <class Values>
auto gather_values(const mpi::Communicator& group, const Values& mine, int root = 0) {
  std::vector<std::ranges::range_value_t<Values>> all;
  for (const std::vector<std::byte>& part : group.gather(std::as_bytes(std::span(mine)), root)) {
    if (part.empty()) continue;
    const std::size_t before = all.size();
    all.resize(before + part.size() / sizeof all[0]);
    std::memcpy(all.data() + before, part.data(), part.size());
  }
  return all;
}

}  // namespace convoke::run

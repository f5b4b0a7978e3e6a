#pragma once
#include <cstddef>
#include <cstring>
#include <exception>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/mpi/communicator.hpp"

namespace convoke::mpi {

/// An error that all ranks of a group throw at the same place, so that no rank waits for another.
struct GroupError : Error {
  using Error::Error;
};

/// Returns the Error of a process that gets no more memory (std::bad_alloc).
Error out_of_memory();

/// Converts an exception to an Error: an Error stays the same; for other exceptions the Error names the host.
Error as_error(const std::exception_ptr& failure);

/// If `failure` is set on any rank of `group`, throws the same GroupError on all of them, with the failure of
/// the first such rank; in a group of one rank, rethrows the failure. Collective.
void agree(const Communicator& group, const std::exception_ptr& failure);

/// Runs `work`, which must not contain collectives of `group`, on each rank and returns its result. If it
/// throws, throws as agree(). Collective.
template <class Work>
std::invoke_result_t<Work> together(const Communicator& group, Work&& work) {
  using Result = std::invoke_result_t<Work>;
  std::exception_ptr failure;
  if constexpr (std::is_void_v<Result>) {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    agree(group, failure);
  } else {
    std::optional<Result> result;
    try {
      result.emplace(work());
    } catch (...) {
      failure = std::current_exception();
    }
    agree(group, failure);
    return *std::move(result);
  }
}

/// Runs `work` on rank 0 of `group` and returns its result on all ranks: nothing, a text, or a value whose
/// bytes can be sent, such as a number. All ranks throw its errors as agree() does. Collective.
template <class Work>
std::invoke_result_t<const Work&> on_root(const Communicator& group, const Work& work) {
  using Result = std::invoke_result_t<const Work&>;
  if constexpr (std::is_void_v<Result>) {
    together(group, [&] {
      if (group.root()) work();
    });
  } else {
    Result result = together(group, [&] { return group.root() ? work() : Result(); });
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
Number sum_of(const Communicator& group, Number value) {
  group.sum(std::span(&value, 1));
  return value;
}
inline double max_of(const Communicator& group, double value) {
  group.max(std::span(&value, 1));
  return value;
}
inline double min_of(const Communicator& group, double value) {
  group.min(std::span(&value, 1));
  return value;
}

/// Returns true on all ranks if `flag` is true on any rank. Collective.
inline bool any_of(const Communicator& group, bool flag) { return max_of(group, flag ? 1 : 0) > 0; }

/// Returns the values of all ranks, in the order of the ranks, at `root`; empty elsewhere. `mine`: a vector
/// or a span of plain values, of any length. Collective.
template <class Values>
auto gather_values(const Communicator& group, const Values& mine, int root = 0) {
  std::vector<std::ranges::range_value_t<Values>> all;
  for (const std::vector<std::byte>& part : group.gather(std::as_bytes(std::span(mine)), root)) {
    if (part.empty()) continue;
    const std::size_t before = all.size();
    all.resize(before + part.size() / sizeof all[0]);
    std::memcpy(all.data() + before, part.data(), part.size());
  }
  return all;
}

/// Returns the values of all ranks, by rank, on all ranks. The bytes of a `Value` can be sent. Collective.
template <class Value>
std::vector<Value> all_gather(const Communicator& group, const Value& mine) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<Value> all(static_cast<std::size_t>(group.size()));
  all[static_cast<std::size_t>(group.rank())] = mine;
  const ScopedWait wait("a gathering");
  group.start_all_gather(std::as_writable_bytes(std::span(all))).wait();
  return all;
}

/// Returns the first text of a rank that is not empty, on all ranks; empty if there is none. Collective.
std::string first_text(const Communicator& group, const std::string& mine);

}  // namespace convoke::mpi

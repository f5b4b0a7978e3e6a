#pragma once
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "convoke/core/error.hpp"
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

}  // namespace convoke::mpi

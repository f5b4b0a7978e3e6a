#pragma once
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/mpi/communicator.hpp"

namespace convoke::mpi {

/// An error that all ranks of a group throw at the same place, so that none of them waits for another.
struct GroupError : Error {
  using Error::Error;
};

/// An exception as an Error: the same if it is one; one that is not names the host.
Error as_error(const std::exception_ptr& failure);

/// Throws if `failure` is set on one rank of `group`: on all of them the same GroupError, that of the first
/// rank which has one; in a group of one rank, the failure itself. Collective.
void agree(const Communicator& group, const std::exception_ptr& failure);

/// Runs `work`, which must not contain collectives of `group`, on each rank and returns its result; throws as
/// agree() what it throws. Collective.
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

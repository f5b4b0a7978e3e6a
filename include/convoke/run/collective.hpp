#pragma once
#include <span>
#include <string>
#include <type_traits>
#include <utility>

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

/// Returns true on all ranks if `flag` is true on any rank. Collective.
inline bool any_of(const mpi::Communicator& group, bool flag) {
  double value = flag ? 1 : 0;
  group.max(std::span<double>(&value, 1));
  return value > 0;
}

}  // namespace convoke::run

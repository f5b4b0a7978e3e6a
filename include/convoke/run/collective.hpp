#pragma once
#include <functional>
#include <string>

#include "convoke/mpi/communicator.hpp"

namespace convoke::run {

/// Runs `work` on rank 0 of `group` and returns its text on all ranks; all ranks throw its errors as
/// mpi::agree() does. Collective.
std::string on_root(const mpi::Communicator& group, const std::function<std::string()>& work);

/// Returns true on all ranks if `flag` is true on any rank. Collective.
bool any_of(const mpi::Communicator& group, bool flag);

}  // namespace convoke::run

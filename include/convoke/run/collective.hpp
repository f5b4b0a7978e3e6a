#pragma once
#include <functional>
#include <string>

#include "convoke/mpi/communicator.hpp"

namespace convoke::run {

/// Runs `work` on rank 0 of `group` and returns its text on all ranks; what it throws, all ranks throw as
/// mpi::agree() does. Collective.
std::string on_root(const mpi::Communicator& group, const std::function<std::string()>& work);

/// True on all ranks if `flag` is true on one. Collective.
bool any_of(const mpi::Communicator& group, bool flag);

}  // namespace convoke::run

#include "convoke/run/collective.hpp"

#include <span>

#include "convoke/mpi/together.hpp"

namespace convoke::run {

std::string on_root(const mpi::Communicator& group, const std::function<std::string()>& work) {
  std::string result;
  mpi::together(group, [&] {
    if (group.root()) result = work();
  });
  return group.broadcast(std::move(result));
}

bool any_of(const mpi::Communicator& group, bool flag) {
  double value = flag ? 1 : 0;
  group.max(std::span<double>(&value, 1));
  return value > 0;
}

}  // namespace convoke::run

#include "convoke/run/collective.hpp"

namespace convoke::run {

bool any_of(const mpi::Communicator& group, bool flag) {
  double value = flag ? 1 : 0;
  group.max(std::span<double>(&value, 1));
  return value > 0;
}

}  // namespace convoke::run

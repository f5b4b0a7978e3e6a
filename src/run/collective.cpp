#include "convoke/run/collective.hpp"

#include <optional>
#include <span>

#include "convoke/core/error.hpp"

namespace convoke::run {

std::string on_root(const mpi::Communicator& group, const std::function<std::string()>& work) {
  std::string result;
  std::optional<Error> error;
  if (group.root()) {
    try {
      result = work();
    } catch (const Error& caught) {
      error = caught;
    }
  }
  if (any_of(group, error.has_value())) {
    const std::string message = group.broadcast(error ? std::string(error->what()) : std::string());
    throw Error(message, group.broadcast(error ? error->hint() : std::string()));
  }
  return group.broadcast(std::move(result));
}

bool any_of(const mpi::Communicator& group, bool flag) {
  double value = flag ? 1 : 0;
  group.max(std::span<double>(&value, 1));
  return value > 0;
}

}  // namespace convoke::run

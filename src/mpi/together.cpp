#include "convoke/mpi/together.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "convoke/os/environment.hpp"

namespace convoke::mpi {

Error out_of_memory() {
  return Error(fmt::format("{}: out of memory", os::host_name()),
               "raise the limit (ulimit -v, sbatch --mem), or use fewer ranks or threads, a smaller "
               "train.micro_batch or --batch, or data.memory = \"...MiB\" to stream samples");
}

Error as_error(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& error) {
    return Error(fmt::format("{}: {}", os::host_name(), error.what()));
  } catch (...) {
    return Error(fmt::format("{}: unknown error", os::host_name()));
  }
}

void agree(const Communicator& group, const std::exception_ptr& failure) {
  if (group.size() == 1) {
    if (failure) std::rethrow_exception(failure);
    return;
  }
  double first = failure ? group.rank() : group.size();
  group.min(std::span(&first, 1));
  const int rank = static_cast<int>(first);
  if (rank == group.size()) return;
  std::optional<Error> error;
  if (rank == group.rank()) error = as_error(failure);
  const std::string message = group.broadcast(error ? std::string(error->what()) : std::string(), rank);
  throw GroupError(message, group.broadcast(error ? error->hint() : std::string(), rank));
}

std::string first_text(const Communicator& group, const std::string& mine) {
  const std::vector<std::string> all = group.gather(mine);
  const auto first = std::ranges::find_if(all, [](const std::string& text) { return !text.empty(); });
  return group.broadcast(first == all.end() ? std::string() : *first);
}

}  // namespace convoke::mpi

#include "convoke/run/node_storage.hpp"

#include <string>

#include "convoke/os/memory.hpp"
#include "convoke/run/collective.hpp"

namespace convoke::run {

data::Storage NodeStorage::storage() {
  // The root's measurement, because free memory changes from one measurement to the next.
  const std::size_t budget =
      budget_ > 0 ? budget_
                  : std::stoull(on_root(node_, [] { return std::to_string(os::available_bytes() / 2); }));
  return {.allocate = [this](std::size_t bytes) { return blocks_.emplace_back(node_, bytes).bytes(); },
          .part = node_.rank(),
          .parts = node_.size(),
          .budget = budget,
          .ready =
              [this] {
                for (const mpi::SharedMemory& block : blocks_) block.publish();
              }};
}

}  // namespace convoke::run

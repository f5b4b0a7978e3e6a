#include "convoke/run/node_storage.hpp"

namespace convoke::run {

data::Storage NodeStorage::storage() {
  return {.allocate = [this](std::size_t bytes) { return blocks_.emplace_back(node_, bytes).bytes(); },
          .owner = node_.root(),
          .ready =
              [this] {
                for (const mpi::SharedMemory& block : blocks_) block.publish();
              }};
}

}  // namespace convoke::run

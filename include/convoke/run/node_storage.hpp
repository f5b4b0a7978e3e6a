#pragma once
#include <vector>

#include "convoke/data/dataset.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/mpi/shared_memory.hpp"

namespace convoke::run {

/// Memory for datasets that the ranks of a node hold once: rank 0 of the node reads the file, the others see
/// what it has read. Making it, opening a dataset with it and destroying it are collective over `node`.
class NodeStorage {
 public:
  explicit NodeStorage(mpi::Communicator node) : node_(std::move(node)) {}
  NodeStorage(const NodeStorage&) = delete;
  NodeStorage& operator=(const NodeStorage&) = delete;

  /// For data::Dataset::open. This object must outlive the dataset.
  data::Storage storage();

 private:
  mpi::Communicator node_;
  std::vector<mpi::SharedMemory> blocks_;
};

}  // namespace convoke::run

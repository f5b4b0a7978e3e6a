#pragma once
#include <cstddef>
#include <vector>

#include "convoke/data/dataset.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/mpi/shared_memory.hpp"

namespace convoke::run {

/// Memory for datasets that the ranks of a node hold once: each reads a part of the samples, all see what all
/// have read. Making it, opening a dataset with it and destroying it are collective over `node`.
class NodeStorage {
 public:
  /// `budget`: bytes of the node for samples, beyond which they are streamed; 0: half of what it has left.
  explicit NodeStorage(mpi::Communicator node, std::size_t budget = 0)
      : node_(std::move(node)), budget_(budget) {}
  NodeStorage(const NodeStorage&) = delete;
  NodeStorage& operator=(const NodeStorage&) = delete;

  /// For data::Dataset::open. This object must outlive the dataset.
  data::Storage storage();

 private:
  mpi::Communicator node_;
  std::size_t budget_;
  std::vector<mpi::SharedMemory> blocks_;
};

}  // namespace convoke::run

#pragma once
#include <cstddef>
#include <vector>

#include "convoke/data/dataset.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/mpi/shared_memory.hpp"

namespace convoke::run {

/// Memory for datasets that the ranks of a node store once: each rank reads a part of the samples, and all
/// ranks see all samples. Construction, destruction and opening a dataset with it are collective over `node`.
class NodeStorage {
 public:
  /// `budget`: bytes of the node for samples; larger splits are streamed. 0: half of the free memory.
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

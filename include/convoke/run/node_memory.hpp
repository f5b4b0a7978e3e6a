#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "convoke/data/dataset.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/mpi/shared_memory.hpp"
#include "convoke/os/file.hpp"

namespace convoke::run {

/// Returns half of the memory that is free at the root of `node`, the same on all its ranks. Collective.
std::size_t half_of_free_memory(const mpi::Communicator& node);

/// One block of memory per node that all its ranks read and write: shared memory, or a memory-mapped file
/// if it would be larger than `budget` or cannot be shared. The file's name is removed once it is
/// mapped, so the file disappears with the processes. Construction is collective over `node`.
class NodeMemory {
 public:
  /// `file`: its path, on a disk that all ranks of the node see; the root's path is used. Throws Error naming
  /// it on all ranks if the disk is full.
  NodeMemory(const mpi::Communicator& node, std::size_t bytes, std::size_t budget,
             const std::filesystem::path& file);
  std::span<std::byte> bytes() const { return bytes_; }
  bool in_file() const { return !window_; }
  /// Makes the writes of each rank visible to all ranks. Collective over the node.
  void publish() const;

 private:
  mpi::Communicator node_;
  std::optional<mpi::SharedMemory> window_;
  std::optional<os::MappedFile> mapped_;
  std::span<std::byte> bytes_;
};

/// Memory for datasets that the ranks of a node store once: each rank reads a part of the samples, and all
/// ranks see all samples. If the ranks cannot share memory, each has a copy of its own, and its part of the
/// budget. Opening a dataset with it is collective over all ranks: rank 0 looks at the files of a folder of
/// shards, and tells the others.
class NodeStorage {
 public:
  /// `budget`: bytes of the node for samples; larger splits are streamed. 0: half of the free memory.
  NodeStorage(mpi::Communicator all, mpi::Communicator node, std::size_t budget = 0)
      : all_(std::move(all)), node_(std::move(node)), budget_(budget) {}
  NodeStorage(const NodeStorage&) = delete;
  NodeStorage& operator=(const NodeStorage&) = delete;

  /// For data::Dataset::open. This object must outlive the dataset.
  data::Storage storage();

 private:
  mpi::Communicator all_, node_;
  std::size_t budget_;
  std::vector<mpi::SharedMemory> blocks_;
};

}  // namespace convoke::run

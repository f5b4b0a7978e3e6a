#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "convoke/mpi/communicator.hpp"
#include "convoke/mpi/shared_memory.hpp"
#include "convoke/os/mapped_file.hpp"

namespace convoke::run {

/// One block of memory per node that all its ranks read and write: a shared window, or where it would be
/// larger than `budget` or cannot be had, a file that is mapped into memory. The file has no name once it is
/// mapped, so that nothing is left of it. Collective over `node` to make and to destroy.
class NodeMemory {
 public:
  /// `file`: where to put it, on a disk that the node's ranks see; the root's counts. Throws Error naming it
  /// on all ranks if the disk is full.
  NodeMemory(const mpi::Communicator& node, std::size_t bytes, std::size_t budget,
             const std::filesystem::path& file);
  std::span<std::byte> bytes() const { return bytes_; }
  bool in_file() const { return !window_; }
  /// Collective over the node: what each rank wrote before is visible to all after.
  void publish() const;

 private:
  void map(const std::filesystem::path& file, std::size_t bytes);

  mpi::Communicator node_;
  std::optional<mpi::SharedMemory> window_;
  std::optional<os::MappedFile> mapped_;
  std::span<std::byte> bytes_;
};

}  // namespace convoke::run

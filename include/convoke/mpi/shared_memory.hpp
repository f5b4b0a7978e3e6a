#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "convoke/mpi/communicator.hpp"

namespace convoke::mpi {

/// A block of memory per node, shared by the ranks of `node` (Communicator::split_node); memory of the
/// process if the node has one rank. 64-byte aligned, filled with zeros that no rank has touched. Move only.
/// It is a file in memory, which all map, and not a window of MPI: neither the size of /dev/shm nor MPI's own
/// limits count, and each rank frees its mapping alone, whatever the others do.
class SharedMemory {
 public:
  /// Collective over the node. Throws GroupError on all its ranks if they cannot share the memory, as in
  /// containers of their own; in a node of one rank std::bad_alloc.
  SharedMemory(const Communicator& node, std::size_t bytes);
  SharedMemory(SharedMemory&&) noexcept;
  SharedMemory& operator=(SharedMemory&&) noexcept;
  ~SharedMemory();

  std::span<std::byte> bytes() const;
  /// True on the rank that fills the memory.
  bool owner() const;
  /// Collective over the node: afterwards, everything that the owner wrote is visible to all.
  void publish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace convoke::mpi

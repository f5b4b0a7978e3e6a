#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "convoke/mpi/communicator.hpp"

namespace convoke::mpi {

/// A block of memory per node, shared by the ranks of `node` (Communicator::split_node) through an MPI-3
/// window; plain memory if the node has one rank. 64-byte aligned. Creation and destruction are collective
/// over the node. Move only. Must be destroyed before the Session ends.
class SharedMemory {
 public:
  /// Ends all ranks with an error if the memory cannot be allocated (/dev/shm too small, as in containers).
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

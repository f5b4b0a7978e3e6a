#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "convoke/mpi/communicator.hpp"

namespace convoke::mpi {

/// One block of memory per node, shared by the ranks of `node` (Communicator::split_node) through an MPI-3
/// window; plain memory if the node has one rank. 64-byte aligned. Collective over the node to make and to
/// destroy. Move only. Must be destroyed before the Session ends.
class SharedMemory {
 public:
  /// Throws Error on all ranks of the node if the memory cannot be had (/dev/shm too small, as in
  /// containers).
  SharedMemory(const Communicator& node, std::size_t bytes);
  SharedMemory(SharedMemory&&) noexcept;
  SharedMemory& operator=(SharedMemory&&) noexcept;
  ~SharedMemory();

  std::span<std::byte> bytes() const;
  /// True on the rank that fills it.
  bool owner() const;
  /// Collective over the node: what the owner wrote before is visible to all after.
  void publish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace convoke::mpi

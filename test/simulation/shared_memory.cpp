// The memory that ranks of a simulated node share: a block of this process. It lives as long as the world,
// because ranks that are killed leave it in any order.
#include "convoke/mpi/shared_memory.hpp"

#include "world.hpp"

namespace convoke::mpi {

struct SharedMemory::State {
  Communicator node;
  std::span<std::byte> bytes;
};

SharedMemory::SharedMemory(const Communicator& node, std::size_t bytes) {
  struct alignas(64) Line {
    std::byte bytes[64] = {};
  };
  std::byte* first = nullptr;
  if (node.root()) {
    const auto block = std::make_shared<std::vector<Line>>(bytes / sizeof(Line) + 1);
    simulation::World::current()->memory.push_back(block);
    first = block->front().bytes;
  }
  node.broadcast(std::as_writable_bytes(std::span(&first, 1)));
  state_ = std::make_unique<State>(State{node, {first, bytes}});
}
SharedMemory::SharedMemory(SharedMemory&&) noexcept = default;
SharedMemory& SharedMemory::operator=(SharedMemory&&) noexcept = default;
SharedMemory::~SharedMemory() = default;

std::span<std::byte> SharedMemory::bytes() const { return state_->bytes; }
bool SharedMemory::owner() const { return state_->node.root(); }
void SharedMemory::publish() const { state_->node.barrier(); }

}  // namespace convoke::mpi

#include "convoke/mpi/shared_memory.hpp"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/environment.hpp"
#include "convoke/os/file.hpp"
#include "convoke/os/memory.hpp"
#include "convoke/os/process.hpp"

namespace convoke::mpi {
namespace {

/// A file that the ranks of a node map into memory. The first rank makes it, the others open its path.
struct SharedFile {
  SharedFile() = default;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile() {
    std::error_code ignored;
    if (named) std::filesystem::remove(path, ignored);
  }

  os::File file;
  std::string path;
  bool named = false;  ///< the path is a name in a folder, which is removed when all have opened it
};

// In memory, so the size of /dev/shm does not limit it. Other processes of the user can open it as long as
// this one has it open.
void make_in_memory(std::size_t bytes, SharedFile& shared) {
  shared.file = os::File::in_memory("memory of the node");
  shared.file.resize(bytes);
  shared.path = fmt::format("/proc/{}/fd/{}", os::process_number(), shared.file.descriptor());
}

// For ranks that may not open each other's files in /proc, because each is in its own container. The pages
// are reserved, because a full /dev/shm would end the rank that touches one later.
void make_in_dev_shm(std::size_t bytes, SharedFile& shared) {
  shared.path = fmt::format("/dev/shm/convoke-{}-{:x}", os::process_number(), clock_now());
  shared.file = os::File(shared.path, os::Access::kNew, 0600);
  shared.named = true;
  shared.file.allocate(bytes);
}

// Throws GroupError on all ranks of `node` if one of them cannot map the file. Collective.
template <class Make>
std::unique_ptr<os::MappedFile> map(const Communicator& node, std::size_t bytes, Make make) {
  SharedFile shared;
  together(node, [&] {
    if (node.root()) make(bytes, shared);
  });
  const std::string path = node.broadcast(shared.path);
  const std::string space = node.broadcast(os::process_space());
  return together(node, [&] {
    if (!node.root()) {
      if (path.starts_with("/proc") && os::process_space() != space)
        throw Error("they are in different containers");
      shared.file = os::File(path, os::Access::kReadWrite);
    }
    return std::make_unique<os::MappedFile>(shared.file, bytes);
  });
}

}  // namespace

struct SharedMemory::State {
  explicit State(const Communicator& ranks) : node(ranks) {}

  Communicator node;
  std::span<std::byte> bytes;
  std::unique_ptr<os::UntouchedMemory> own;  ///< memory on a node with one rank
  std::unique_ptr<os::MappedFile> shared;
};

SharedMemory::SharedMemory(const Communicator& node, std::size_t bytes)
    : state_(together(node, [&] { return std::make_unique<State>(node); })) {
  if (bytes == 0) return;
  if (node.size() == 1) {
    state_->own = std::make_unique<os::UntouchedMemory>(bytes);
    state_->bytes = state_->own->bytes();
    return;
  }
  std::string reasons;
  const auto try_to_map = [&](const auto& make) {
    if (state_->shared != nullptr) return;
    try {
      state_->shared = map(node, bytes, make);
      state_->bytes = state_->shared->bytes();
    } catch (const GroupError& error) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(error.what());
    }
  };
  try_to_map(make_in_memory);
  try_to_map(make_in_dev_shm);
  if (state_->shared != nullptr) return;
  throw GroupError(
      fmt::format("the {} ranks of host {} cannot share {} of memory: {}", node.size(), os::host_name(),
                  format_bytes(bytes), reasons),
      fmt::format("run all ranks of a host in one container, or enlarge /dev/shm (docker run --shm-size={}m)",
                  (bytes >> 20) + 64));
}

SharedMemory::SharedMemory(SharedMemory&&) noexcept = default;
SharedMemory& SharedMemory::operator=(SharedMemory&&) noexcept = default;
SharedMemory::~SharedMemory() = default;

std::span<std::byte> SharedMemory::bytes() const { return state_->bytes; }
bool SharedMemory::owner() const { return state_->node.root(); }

void SharedMemory::publish() const {
  std::atomic_thread_fence(std::memory_order_release);
  state_->node.barrier();
  std::atomic_thread_fence(std::memory_order_acquire);
}

}  // namespace convoke::mpi

#include "convoke/run/node_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/run/collective.hpp"

namespace convoke::run {
namespace {

std::optional<mpi::SharedMemory> try_window(const mpi::Communicator& node, std::size_t bytes) {
  try {
    return std::optional<mpi::SharedMemory>(std::in_place, node, bytes);
  } catch (const Error&) {  // on all ranks of the node
    return std::nullopt;
  }
}

}  // namespace

NodeMemory::NodeMemory(const mpi::Communicator& node, std::size_t bytes, std::size_t budget,
                       const std::filesystem::path& file)
    : node_(node) {
  if (bytes <= budget) window_ = try_window(node, bytes);
  if (window_) {
    bytes_ = window_->bytes();
  } else {
    map(file, bytes);
  }
}

void NodeMemory::map(const std::filesystem::path& file, std::size_t bytes) {
  const std::string path = on_root(node_, [&] {
    std::error_code failed;  // then the next call fails
    std::filesystem::create_directories(file.parent_path(), failed);
    const int made = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    // Room for all of it now: a full disk would be a SIGBUS later.
    const int reason = made < 0 ? errno : ::posix_fallocate(made, 0, static_cast<off_t>(bytes));
    if (made >= 0) ::close(made);
    if (reason != 0) {
      throw Error(fmt::format("{}: cannot make a file of {}: {}", file.string(), format_bytes(bytes),
                              std::strerror(reason)),
                  "free room on the disk of the run folder, choose another with --output, or set "
                  "model.cache_features to 0");
    }
    return file.string();
  });
  const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* const address =
      opened < 0 ? MAP_FAILED : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  if (opened >= 0) ::close(opened);
  const bool failed = any_of(node_, address == MAP_FAILED);
  if (node_.root()) ::unlink(path.c_str());
  if (failed) {
    throw Error(fmt::format("{}: the ranks of this node cannot map it into memory", path),
                "put the run folder (--output) on a disk that they all see");
  }
  bytes_ = {static_cast<std::byte*>(address), bytes};
}

NodeMemory::~NodeMemory() {
  if (in_file() && !bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

void NodeMemory::publish() const {
  if (window_) return window_->publish();
  node_.barrier();
}

}  // namespace convoke::run

#include "convoke/run/node_memory.hpp"

#include <fmt/format.h>

#include <string>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/file.hpp"
#include "convoke/os/memory.hpp"

namespace convoke::run {

namespace {

std::optional<mpi::SharedMemory> try_window(const mpi::Communicator& node, std::size_t bytes) {
  try {
    return std::optional<mpi::SharedMemory>(std::in_place, node, bytes);
  } catch (const std::exception&) {  // on all ranks of the node
    return std::nullopt;
  }
}

// The ranks of a node cannot share memory if each is in its own container.
bool shares(const mpi::Communicator& node) { return try_window(node, 1).has_value(); }

}  // namespace

// The root's measurement, because free memory changes from one measurement to the next.
std::size_t half_of_free_memory(const mpi::Communicator& node) {
  return mpi::on_root(node, [] { return os::available_bytes() / 2; });
}

NodeMemory::NodeMemory(const mpi::Communicator& node, std::size_t bytes, std::size_t budget,
                       const std::filesystem::path& file)
    : node_(node) {
  if (bytes <= budget) window_ = try_window(node, bytes);
  if (window_) {
    bytes_ = window_->bytes();
    return;
  }
  const std::filesystem::path path = mpi::on_root(node_, [&] {
    std::error_code failed;  // if this fails, the next call fails too
    std::filesystem::create_directories(file.parent_path(), failed);
    try {
      os::File(file, os::Access::kTruncate, 0600).allocate(bytes);
    } catch (const Error& error) {
      throw Error(fmt::format("{}; the file needs {}", error.what(), format_bytes(bytes)),
                  "free space on the disk of the run folder, choose another folder with --output, or set "
                  "model.cache_features to 0");
    }
    return file.string();
  });
  try {
    mapped_.emplace(os::File(path, os::Access::kReadWrite), bytes);
  } catch (const Error&) {  // reported by all ranks below
  }
  const bool failed = mpi::any_of(node_, !mapped_);
  std::error_code ignored;
  if (node_.root()) std::filesystem::remove(path, ignored);
  if (failed) {
    throw Error(fmt::format("{}: the ranks of this node cannot map it into memory", path.string()),
                "put the run folder (--output) on a disk that all these ranks can access");
  }
  bytes_ = mapped_->bytes();
}

void NodeMemory::publish() const {
  if (window_) return window_->publish();
  node_.barrier();
}

data::Storage NodeStorage::storage() {
  const bool shared = shares(node_);
  const std::size_t of_node = budget_ > 0 ? budget_ : half_of_free_memory(node_);
  // Equal on all ranks of all nodes, so that all stream a split or none: reading ahead is collective.
  const std::size_t mine = shared ? of_node : of_node / static_cast<std::size_t>(node_.size());
  const auto budget = static_cast<std::size_t>(mpi::min_of(all_, static_cast<double>(mine)));
  const auto at_first = [this](const std::function<std::string()>& work) { return mpi::on_root(all_, work); };
  if (!shared) {
    data::Storage own = data::private_storage(budget);
    own.at_first = at_first;
    return own;
  }
  return {.allocate = [this](std::size_t bytes) { return blocks_.emplace_back(node_, bytes).bytes(); },
          .part = node_.rank(),
          .parts = node_.size(),
          .budget = budget,
          .ready =
              [this] {
                for (const mpi::SharedMemory& block : blocks_) block.publish();
              },
          .at_first = at_first};
}

}  // namespace convoke::run

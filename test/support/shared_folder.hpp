#pragma once
#include <optional>

#include "convoke/mpi/communicator.hpp"
#include "convoke/mpi/together.hpp"
#include "support/files.hpp"

/// A new folder of all ranks of `world`, which rank 0 removes when all have left it. Collective.
class SharedFolder {
 public:
  explicit SharedFolder(const convoke::mpi::Communicator& world)
      : world_(world),
        path_(convoke::mpi::on_root(world, [this] { return made_.emplace().path().string(); })) {}
  ~SharedFolder() { world_.barrier(); }

  const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  convoke::mpi::Communicator world_;
  std::optional<TemporaryFolder> made_;  ///< of rank 0
  fs::path path_;
};

#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"

namespace convoke::doctor {

/// A folder or file as a host sees it. Rates in bytes per second; 0: not measured.
struct Storage {
  std::string host = {};
  std::string role = {};  ///< "runs", "dataset"
  std::string path = {};
  std::string failure = {};  ///< why it cannot be read, or written for runs; "" if it can
  std::string type = {};     ///< of the file system: "ext4", "NFS"; "": unknown
  std::uint64_t free = 0;    ///< bytes that this user can write
  double write_rate = 0;     ///< for runs, with fsync
  double read_rate = 0;
  std::string locking_refused = {};  ///< why flock, which HDF5 uses, failed; "" if it did not
};

/// Examines the folder for runs, or its nearest parent that exists. `measure`: writes some MiB into a
/// temporary file without a name.
Storage probe_runs(const std::filesystem::path& folder, bool measure);

/// Examines a file of a dataset. `measure`: reads some MiB that are not in memory.
Storage probe_dataset(const std::filesystem::path& file, bool measure);

/// Finds places that are unusable, full or slow. `checkpoint`: bytes of a checkpoint; 0: unknown.
/// `must_lock`: see hdf5_must_lock. Pure.
std::vector<Finding> check_storage(const std::vector<Storage>& places, std::uint64_t checkpoint,
                                   bool must_lock);

/// True if HDF5_USE_FILE_LOCKING demands locks; it overrides Convoke, which does not lock its files.
bool hdf5_must_lock();

}  // namespace convoke::doctor

#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/doctor/finding.hpp"

namespace convoke::doctor {

/// A folder or file as one host sees it. Speeds in bytes per second; 0: not measured.
struct Storage {
  std::string host = {};
  std::string role = {};  ///< "runs", "dataset"
  std::string path = {};
  std::string failure = {};  ///< why it cannot be read or, of runs, written; "" if it can
  std::string type = {};     ///< of its file system: "ext4", "NFS"; "" unknown
  bool network = false;      ///< that is on a server
  std::uint64_t free = 0;    ///< bytes left to us
  double write_rate = 0;     ///< of runs, until fsync has returned
  double read_rate = 0;
  std::string locking_refused =
      {};  ///< why flock, with which HDF5 guards its files, failed; "" if it did not
};

/// Of the folder of runs, or the nearest one above it that exists. `measure`: writes some MiB into a file
/// without a name, of which nothing is left.
Storage look_at_runs(const std::filesystem::path& folder, bool measure);

/// Of a file of a dataset. `measure`: reads some MiB that are not in memory.
Storage look_at_dataset(const std::filesystem::path& file, bool measure);

Settings to_settings(const Storage& storage);
Storage storage_from(const Settings& settings);

/// `checkpoint`: bytes of one; 0: unknown. `must_lock`: see hdf5_must_lock.
/// Pure.
std::vector<Finding> judge_storage(const std::vector<Storage>& places, std::uint64_t checkpoint,
                                   bool must_lock);

/// HDF5_USE_FILE_LOCKING says so, which counts for more than that Convoke has its files not locked.
bool hdf5_must_lock();

}  // namespace convoke::doctor

#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"
#include "convoke/data/dataset_writer.hpp"

namespace convoke::data_prep {

struct PrepareOptions {
  std::filesystem::path source;
  std::filesystem::path output;
  std::string kind = {};                      ///< of the source, e.g. "idx"; empty: found out
  bool overwrite = false;                     ///< replace `output` if it exists
  std::vector<std::string> class_names = {};  ///< instead of the source's; one per class
  /// Called with samples done and to do by this process; may be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

/// The processes that prepare together, each calling prepare() with the same options; by default this one
/// alone. Under MPI: rank, size, MPI_Barrier and MPI_Bcast from rank 0 (data preparation itself knows nothing
/// of MPI). A process that throws leaves the others waiting: end the job then.
struct Team {
  int index = 0;
  int count = 1;
  std::function<void()> barrier = [] {};
  std::function<void(std::span<std::uint64_t>)> broadcast = [](std::span<std::uint64_t>) {};
};

struct PrepareReport {
  data::DatasetInfo info;  ///< mean, deviation and hash at index 0 only
  std::vector<data::SplitSize> splits;
  std::uint64_t bytes = 0;  ///< size of the file, at index 0
};

/// Turns `source` into the dataset file `output`. Every process decodes an equal range of each split and
/// writes it into the file; the bytes do not depend on how many there are. Throws Error if the source is
/// damaged, the output exists (unless told to overwrite) or cannot be written; then there is no output file,
/// or the old one.
PrepareReport prepare(const PrepareOptions& options, const Team& team = {});

}  // namespace convoke::data_prep

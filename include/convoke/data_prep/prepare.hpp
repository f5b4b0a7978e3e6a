#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"
#include "convoke/data/dataset_writer.hpp"
#include "convoke/data_prep/assumption.hpp"
#include "convoke/data_prep/pictures/encoding.hpp"
#include "convoke/data_prep/sources/source_options.hpp"
#include "convoke/data_prep/splits.hpp"
#include "convoke/data_prep/team.hpp"

namespace convoke::data_prep {

/// The order of samples in the dataset.
enum class Order {
  kAuto,      ///< shuffled if the source lists a split's samples class by class; else the source's order
  kSource,    ///< the source's order
  kShuffled,  ///< by the seed of the splits
};

/// Parses "auto", "source" or "shuffled". Throws Error listing them.
Order order_from(const std::string& name);

struct PrepareOptions {
  std::filesystem::path source;
  std::filesystem::path output;
  std::string kind = {};          ///< of the source, e.g. "idx"; empty: detected
  bool overwrite = false;         ///< replace `output` if it exists
  SourceOptions samples = {};     ///< how samples are made
  SplitOptions splits = {};       ///< splits
  Order order = Order::kAuto;     ///< within a split
  Encoding encoding = {};         ///< of pictures in the dataset
  std::int64_t shards = 0;        ///< files of the largest split, in the folder `output`; 0: one file for all
  bool skip_bad = false;          ///< leave unreadable samples out and list them
  bool allow_duplicates = false;  ///< accept the same sample in two splits
  bool dry_run = false;           ///< end after `announce`; nothing is written
  /// Called in every process with what the source was taken for, before any sample is decoded and also if
  /// fitting the source fails; may be empty.
  std::function<void(std::span<const Assumption>)> announce = {};
  /// Called with the numbers of samples that this process has done and has to do; may be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

struct PrepareReport {
  /// The work of one process.
  struct Work {
    std::int64_t samples = 0;
    double seconds = 0;
  };

  data::DatasetInfo info;  ///< mean, standard deviation and hash at index 0 only
  std::vector<data::SplitSize> splits;
  std::string split_rule;     ///< how the samples were assigned to splits
  bool shuffled = false;      ///< true if any split was shuffled
  std::int64_t taken_up = 0;  ///< samples that an interrupted run had decoded
  std::int64_t left_out = 0;  ///< unreadable samples
  // At index 0 only:
  std::uint64_t source_bytes = 0;    ///< of the samples in the source
  std::uint64_t bytes = 0;           ///< of the dataset
  std::int64_t duplicates = 0;       ///< pairs of equal samples
  std::int64_t leaks = 0;            ///< duplicates between two splits
  std::int64_t near_duplicates = 0;  ///< pairs of pictures that look the same
  std::int64_t near_duplicate_leaks = 0;
  std::filesystem::path list;       ///< CSV of all of them, next to the dataset; empty: none
  std::vector<std::string> absent;  ///< classes without a training sample
  std::vector<std::string> notes;   ///< what the source left out or filled in; splits that lack classes
  std::vector<Work> work;           ///< per process
};

/// Turns `source` into the dataset `output`, a file or a folder of shards. Every process decodes an equal
/// share of the samples into a folder next to the output, `<output>.work`; then they are checked, ordered and
/// written. The bytes do not depend on the number of processes. The next run with the same options resumes an
/// interrupted one, and decodes again what has changed in the source. A sample that cannot be read does not
/// stop the others. Throws Error if the source is damaged; if samples cannot be read (naming the first twenty
/// and the total number, in every process), unless told to skip them; if samples to be encoded are not
/// pictures of 8 bits in gray or RGB; if a sample is in two splits, unless told to allow it; if the output
/// exists, unless told to overwrite; or if it cannot be written. Then there is no output file, or the old
/// one. A dry run reports splits and sample format only.
PrepareReport prepare(const PrepareOptions& options, const Team& team = {});

}  // namespace convoke::data_prep

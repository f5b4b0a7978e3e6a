#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "convoke/data/dataset.hpp"
#include "convoke/data/dataset_writer.hpp"
#include "convoke/data_prep/sources/source_options.hpp"
#include "convoke/data_prep/splits.hpp"
#include "convoke/data_prep/team.hpp"

namespace convoke::data_prep {

/// In which order samples lie in the dataset.
enum class Order {
  kAuto,      ///< shuffled, where a split's samples lie class by class in the source; else the source's
  kSource,    ///< as the source lists them
  kShuffled,  ///< by the seed of the splits
};

/// "auto", "source", "shuffled". Throws Error listing them.
Order order_from(const std::string& name);

struct PrepareOptions {
  std::filesystem::path source;
  std::filesystem::path output;
  std::string kind = {};          ///< of the source, e.g. "idx"; empty: found out
  bool overwrite = false;         ///< replace `output` if it exists
  SourceOptions samples = {};     ///< what a sample is to be
  SplitOptions splits = {};       ///< splits
  Order order = Order::kAuto;     ///< within a split
  std::int64_t shards = 0;        ///< files of the largest split, in the folder `output`; 0: one file for all
  bool skip_bad = false;          ///< leave out what cannot be read, and list it
  bool allow_duplicates = false;  ///< the same sample in two splits is no error
  /// Called with samples done and to do by this process; may be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

struct PrepareReport {
  /// What one process did.
  struct Work {
    std::int64_t samples = 0;
    double seconds = 0;
  };

  data::DatasetInfo info;  ///< mean, deviation and hash at index 0 only
  std::vector<data::SplitSize> splits;
  std::string split_rule;     ///< how the samples were divided into splits
  bool shuffled = false;      ///< some split's samples lie in a shuffled order
  std::int64_t taken_up = 0;  ///< samples that an interrupted run had decoded
  std::int64_t left_out = 0;  ///< unreadable samples
  // At index 0 only:
  std::uint64_t source_bytes = 0;  ///< of the samples as the source has them
  std::uint64_t bytes = 0;         ///< of the dataset
  std::int64_t duplicates = 0;     ///< pairs of equal samples
  std::int64_t leaks = 0;          ///< of these, between two splits
  std::int64_t lookalikes = 0;     ///< pairs of pictures that look the same
  std::int64_t lookalike_leaks = 0;
  std::filesystem::path list;       ///< CSV of all these, beside the dataset; empty: there are none
  std::vector<std::string> absent;  ///< classes without a training sample
  std::vector<std::string> notes;   ///< the source's: what it has left out or filled in
  std::vector<Work> work;           ///< of each process
};

/// Turns `source` into the dataset `output`, a file or a folder of shards. Every process decodes an equal
/// share of the samples into a folder beside the output, `<output>.work`; then they are checked, ordered and
/// written. The bytes do not depend on how many processes there are. A run that was cut short is taken up by
/// the next one with the same options. A sample that cannot be read does not stop the others. Throws Error if
/// the source is damaged, samples cannot be read (naming the first twenty and the number of all, in every
/// process; unless told to skip them), a sample is in two splits (unless told to allow it), the output exists
/// (unless told to overwrite) or cannot be written; then there is no output file, or the old one.
PrepareReport prepare(const PrepareOptions& options, const Team& team = {});

}  // namespace convoke::data_prep

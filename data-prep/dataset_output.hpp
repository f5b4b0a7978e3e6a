#pragma once
#include <cstdint>
#include <vector>

#include "convoke/data/dataset_writer.hpp"
#include "convoke/data_prep/groups.hpp"
#include "convoke/data_prep/prepare.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/team.hpp"
#include "spool.hpp"

namespace convoke::data_prep {

/// The dataset that prepare() makes of decoded samples: their order, and the file.
class DatasetOutput {
 public:
  /// `records`, of the items: bad ones are left out. `format`: of the samples in the spool. All references
  /// must outlive the object.
  DatasetOutput(const PrepareOptions& options, const Team& team, const Catalog& catalog,
                const SampleFormat& format, const std::vector<Record>& records)
      : options_(options), team_(team), catalog_(catalog), format_(format), records_(records) {}

  /// Puts the items of each split in the order of the dataset. Sets the splits, `shuffled` and `left_out` of
  /// the report.
  void arrange(const SplitAssignment& splits, const Groups& groups, PrepareReport& report);

  /// Collective over the team. Writes the dataset of `report.info` and the arranged splits, each process an
  /// equal share of the samples. At index 0 it completes the info with statistics and hash.
  void write(const Spool& spool, PrepareReport& report) const;

  /// Returns the items of a split, in the order of the dataset.
  const std::vector<std::size_t>& items(std::size_t split) const { return items_[split]; }

 private:
  bool sizes_differ() const;
  void number_groups(const Groups& groups, std::vector<data::SplitSize>& splits);
  std::vector<std::int64_t> encoded_ends(const std::vector<std::size_t>& items) const;
  data::DatasetWriter open_writer(const PrepareReport& report) const;
  void write_split(std::size_t split, const data::SplitSize& size, const Spool& spool,
                   data::DatasetWriter& writer) const;
  void append_stored(std::size_t item, const Spool& spool, std::vector<std::byte>& bytes) const;
  data::DatasetWriter::ReadSamples decoded(const Spool& spool) const;

  const PrepareOptions& options_;
  const Team& team_;
  const Catalog& catalog_;
  const SampleFormat& format_;
  const std::vector<Record>& records_;
  std::vector<std::vector<std::size_t>> items_;  // of each split
  std::vector<std::int32_t> group_of_;           // number of each item's group in the dataset
};

}  // namespace convoke::data_prep

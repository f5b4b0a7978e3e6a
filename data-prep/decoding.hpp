#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convoke/data_prep/prepare.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "findings.hpp"
#include "spool.hpp"

namespace convoke::data_prep {

/// The decoded samples of a source, and the samples among them that are equal or look the same.
class Decoding {
 public:
  Decoding(const PrepareOptions& options, const Team& team, Source& source)
      : options_(options), team_(team), source_(source) {}

  /// Collective over the team. Each process decodes an equal share of the items, those that an earlier run
  /// has not decoded or whose file has changed since, and continues after an item that it cannot read; then
  /// index 0 compares them, unless the pairs that it found before are to be kept. Does nothing if this was
  /// done for the same `identity` (Spool), a text that describes everything that decides the values of the
  /// samples.
  void update(const std::string& identity, bool keep_pairs = false);

  Spool& spool() { return *spool_; }
  const std::vector<Record>& records() const { return records_; }  ///< of the items
  const Findings& findings() const { return findings_; }           ///< at index 0
  /// Equal samples, and pictures that look the same; in every process.
  const std::vector<Pair>& pairs() const { return pairs_; }
  std::int64_t taken_up() const { return taken_up_; }  ///< samples that an interrupted run had decoded
  const std::vector<PrepareReport::Work>& work() const { return work_; }

 private:
  bool is_picture() const { return format_.type == data::SampleType::kUint8; }
  void forget_changed();
  void decode();
  void decode_item(std::size_t item, std::span<std::byte> sample);
  void compare();
  void share_pairs();

  const PrepareOptions& options_;
  const Team& team_;
  Source& source_;
  SampleFormat format_;
  std::string identity_;
  std::optional<Spool> spool_;
  std::vector<Record> records_;
  Findings findings_;
  std::vector<Pair> pairs_;
  std::int64_t taken_up_ = 0;
  std::vector<PrepareReport::Work> work_;
};

}  // namespace convoke::data_prep

#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/team.hpp"
#include "convoke/os/file.hpp"
#include "perceptual_hash.hpp"

namespace convoke::data_prep {

/// What is known of an item after it was decoded.
struct Record {
  enum State : std::uint32_t { kMissing = 0, kDone = 1, kBad = 2 };
  std::uint32_t state = kMissing;
  std::uint32_t checksum = 0;  ///< CRC-32 of the sample's values
  std::int32_t height = 0;     ///< as Original's
  std::int32_t width = 0;
  std::uint64_t bytes = 0;
  PerceptualHash look{};  ///< of pictures; else zeros
};

/// Decoded samples between two runs: a folder beside the output in which every item of the source has a place
/// of its own, whoever decoded it. A run that was cut short is taken up where it stopped, by any number of
/// processes. Nothing in it bears a dataset's name.
class Spool {
 public:
  /// Collective over the team. What a run with another `identity` (a text that tells source, splits and
  /// options) or of another size has left is removed; items that it could not read are missing again. Throws
  /// Error if it cannot be made, another team is at work in it, or the disk has no room.
  Spool(std::filesystem::path folder, const std::string& identity, std::size_t items,
        std::size_t sample_bytes, const Team& team);
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  /// Where each item stands by what is on the disk: (items).
  std::vector<Record> records() const;

  /// The values of a sample and then its record, so that what has a record is whole. Any process, any order.
  void put(std::size_t item, std::span<const std::byte> sample, Record record);
  /// Item cannot be read, and why.
  void put_bad(std::size_t item, const Error& why);

  /// Reads a sample back. Throws Error if it is not what its record says: a crash of the machine lost it.
  void get(std::size_t item, const Record& record, std::span<std::byte> sample) const;

  /// The reasons of all bad items, the same in every process once all have been decoded.
  std::map<std::size_t, Error> faults() const;

  /// Done with: removes the folder. By one process.
  void remove();

  const std::filesystem::path& folder() const { return folder_; }

 private:
  void forget_bad();
  void write_record(std::size_t item, const Record& record);
  std::vector<std::filesystem::path> fault_files() const;

  std::filesystem::path folder_;
  std::size_t items_, sample_bytes_;
  int team_index_;
  os::File samples_, records_;
  os::File lock_;  // held until it is closed, also by a process that is killed
};

}  // namespace convoke::data_prep

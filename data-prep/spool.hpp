#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/data_prep/files/file_stamp.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/team.hpp"
#include "convoke/os/file.hpp"
#include "perceptual_hash.hpp"

namespace convoke::data_prep {

/// Data of an item after it was decoded.
struct Record {
  enum State : std::uint32_t { kMissing = 0, kDone = 1, kBad = 2 };
  std::uint32_t state = kMissing;
  std::uint32_t checksum = 0;  ///< CRC-32 of the sample's values
  std::int32_t height = 0;     ///< as in Original
  std::int32_t width = 0;
  std::uint64_t bytes = 0;
  FileStamp file{};       ///< of the item's file when it was read; zeros if items share files
  PerceptualHash hash{};  ///< for pictures; else zeros
  // These are zeros unless the picture is encoded.
  std::uint32_t encoded_checksum = 0;  ///< CRC-32
  std::int32_t encoded_by = 0;         ///< the process whose file holds it
  std::uint64_t encoded_at = 0;        ///< its place in the file
  std::uint64_t encoded_bytes = 0;
};

/// Decoded samples between two runs: a folder next to the output in which every item of the source has a
/// fixed place, whichever process decoded it. Any number of processes can resume an interrupted run. Its
/// files never have a dataset's name.
class Spool {
 public:
  /// Collective over the team. Removes the files of a run with another `identity` (a text that describes
  /// source, splits and options) or another size. Items that an earlier run could not read are missing again.
  /// Throws Error if the folder cannot be created, another team uses it, or the disk has no space.
  Spool(std::filesystem::path folder, const std::string& identity, std::size_t items,
        std::size_t sample_bytes, const Team& team);
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  /// Returns the record of each item on the disk: (items).
  std::vector<Record> records() const;

  /// Writes the values of a sample, its encoded bytes if it has some, and then its record, so that a sample
  /// with a record is complete. Any process, any order.
  void put(std::size_t item, std::span<const std::byte> sample, Record record,
           std::span<const std::byte> encoded = {});
  /// Records that an item cannot be read, and why.
  void put_bad(std::size_t item, const Error& why);

  /// Makes the record of an item missing.
  void forget(std::size_t item) { write_record(item, {}); }

  /// Reads a sample back. Throws Error if it does not match its record, because the machine crashed and lost
  /// it.
  void get(std::size_t item, const Record& record, std::span<std::byte> sample) const;

  /// Reads the encoded bytes of a sample back. Throws as get().
  std::vector<std::byte> get_encoded(std::size_t item, const Record& record) const;

  /// Returns the reasons of all bad items. They are the same in every process after all have been decoded.
  std::map<std::size_t, Error> faults() const;

  /// Removes the folder after use. Called by one process.
  void remove();

  const std::filesystem::path& folder() const { return folder_; }

 private:
  void forget_bad();
  [[noreturn]] void refuse(const std::filesystem::path& file, std::size_t item) const;
  std::filesystem::path encoded_file(int team_index) const;
  void write_record(std::size_t item, const Record& record);
  std::vector<std::filesystem::path> fault_files() const;

  std::filesystem::path folder_;
  std::size_t items_, sample_bytes_;
  int team_index_;
  os::File samples_, records_;
  os::File encoded_;  // of this process; opened when it is needed
  os::File lock_;     // held until it is closed, also if the process is killed
};

}  // namespace convoke::data_prep

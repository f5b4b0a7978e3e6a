#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "convoke/archive/byte_reader.hpp"

namespace convoke::data_prep {

/// The lines of a text, one after another; a buffer is held in memory.
class Lines {
 public:
  /// Throws Error as archive::open_bytes: a gzipped file is unpacked, and a pipe or device is refused.
  explicit Lines(const std::filesystem::path& file) : bytes_(archive::open_bytes(file)) {}

  /// Reads the next line without its end, LF or CR LF. Returns false behind the last one. Throws Error as
  /// archive::ByteReader::read_some, and for a line of more than 1 MiB.
  bool next(std::string& line);

 private:
  bool fill();

  std::unique_ptr<archive::ByteReader> bytes_;
  std::uint64_t read_ = 0;  // bytes of the file
  std::string buffer_;
  std::size_t at_ = 0;  // in the buffer: the next character
};

}  // namespace convoke::data_prep

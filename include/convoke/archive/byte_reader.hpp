#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace convoke::archive {

/// Bytes that can be read from any offset: of a file, of a gzipped file or of a member of an archive,
/// unpacked. In a packed file, reading forward is fast, and going back restarts at the beginning. Only a
/// buffer is held in memory.
class ByteReader {
 public:
  explicit ByteReader(std::string name) : name_(std::move(name)) {}
  virtual ~ByteReader() = default;

  /// Name for messages: the file, and the member within it.
  const std::string& name() const { return name_; }

  /// Returns the number of bytes; none if this needs unpacking.
  virtual std::optional<std::uint64_t> size() const = 0;

  /// Returns where the bytes begin in the file; none if they are packed in it.
  virtual std::optional<std::uint64_t> offset_in_file() const { return {}; }

  /// Fills `bytes` from `offset` on with the bytes that exist, and returns their number. Reading past the
  /// last byte also checks checksums, if the format has them. Throws Error naming the file if it is
  /// unreadable, corrupt or truncated.
  virtual std::size_t read_some(std::uint64_t offset, std::span<std::byte> bytes) = 0;

  /// Fills all of `bytes`. Throws Error as read_some does, and if there are too few bytes.
  void read(std::uint64_t offset, std::span<std::byte> bytes);

 private:
  std::string name_;
};

/// Opens a file without unpacking. Throws Error if it is missing, a folder or unreadable.
std::unique_ptr<ByteReader> open_plain(const std::filesystem::path& file);

/// Opens a file, plain or gzipped by its first two bytes. A file named .gz must be gzipped. Throws Error as
/// open_plain.
std::unique_ptr<ByteReader> open_bytes(const std::filesystem::path& file);

/// True if the first two bytes are those of a gzip file.
bool begins_as_gzip(ByteReader& file);

/// Opens a gzipped file (RFC 1952; one or several streams), unpacked. Throws Error as open_plain, and if it
/// does not begin as a gzip file.
std::unique_ptr<ByteReader> open_gzip(const std::filesystem::path& file);

/// The position of a member in an archive, and its size and checksum.
struct PackedPart {
  std::uint64_t offset = 0;        ///< of its first byte in the file
  std::uint64_t packed_bytes = 0;  ///< in the file
  std::uint64_t bytes = 0;         ///< unpacked
  std::uint32_t crc = 0;           ///< CRC-32 of the unpacked bytes
};

/// Opens a part of `file` that is packed by deflate (RFC 1951). Checks its size and checksum at its end.
/// `name` is for messages.
std::unique_ptr<ByteReader> open_deflated(std::unique_ptr<ByteReader> file, std::string name,
                                          const PackedPart& part);

}  // namespace convoke::archive

#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace convoke::data_prep {

/// Bytes to be read from any place on: those of a file, of a gzipped file or of a member of an archive, as
/// they are once unpacked. Where they are unpacked on the way, going forward is fast and going back begins
/// anew; nothing is held in memory but a buffer.
class ByteReader {
 public:
  explicit ByteReader(std::string name) : name_(std::move(name)) {}
  virtual ~ByteReader() = default;

  /// For messages: the file, and the member within it.
  const std::string& name() const { return name_; }

  /// How many bytes there are; nothing where only unpacking could tell.
  virtual std::optional<std::uint64_t> size() const = 0;

  /// Fills `bytes` from `offset` on as far as there are any, and returns how many there were. Reading past
  /// the last one also compares checksums, where the packing has them. Throws Error naming the file:
  /// unreadable, corrupt, its packing cut short.
  virtual std::size_t read_some(std::uint64_t offset, std::span<std::byte> bytes) = 0;

  /// Fills all of `bytes`. Throws Error as read_some does, and if the bytes end before.
  void read(std::uint64_t offset, std::span<std::byte> bytes);

 private:
  std::string name_;
};

/// A file as it is. Throws Error: missing, a folder, unreadable.
std::unique_ptr<ByteReader> open_plain(const std::filesystem::path& file);

/// A file as its first two bytes say, plain or gzipped. One that is called .gz must be gzipped. Throws Error
/// as open_plain.
std::unique_ptr<ByteReader> open_bytes(const std::filesystem::path& file);

}  // namespace convoke::data_prep

#include "convoke/data_prep/files/zip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"

// Format: PKWARE's APPNOTE.TXT, 4.3. The directory of all members is at the end of the file; the end record
// after it gives its position. If a number does not fit its field, the field is all ones and the number is in
// zip64's end record, or in extra field 1 of the member.

namespace convoke::data_prep {
namespace {

constexpr std::uint32_t kEnd = 0x06054B50, kEnd64Locator = 0x07064B50, kEnd64 = 0x06064B50;
constexpr std::uint32_t kDirectoryEntry = 0x02014B50, kLocalHeader = 0x04034B50;
constexpr std::uint64_t kEndBytes = 22, kEnd64LocatorBytes = 20, kEnd64Bytes = 56;
constexpr std::uint64_t kEntryBytes = 46, kLocalHeaderBytes = 30;
constexpr std::uint64_t kMostComment = 0xFFFF;

[[noreturn]] void refuse_zip(const std::string& name, const std::string& why) {
  throw Error(fmt::format("{}: {}", name, why), "get it again, or save it again with numpy.savez");
}

/// Reads the little-endian numbers of a record, one after the other. Reading past the end gives zeros;
/// callers compare sizes first.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t next(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size && i < bytes_.size(); ++i) {
      value |= std::to_integer<std::uint64_t>(bytes_[i]) << (8 * i);
    }
    skip(size);
    return value;
  }
  void skip(std::size_t size) { bytes_ = bytes_.subspan(std::min(size, bytes_.size())); }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

struct Directory {
  std::uint64_t members = 0, bytes = 0, offset = 0;
};

// Returns the last position of an end record whose comment reaches to the end of the file.
std::uint64_t find_end(ByteReader& file, std::uint64_t size) {
  const std::uint64_t searched = std::min(size, kEndBytes + kMostComment);
  std::vector<std::byte> tail(searched);
  file.read(size - searched, tail);
  for (std::uint64_t back = kEndBytes; back <= searched; ++back) {
    Fields fields(std::span<const std::byte>(tail).last(back));
    if (fields.next(4) != kEnd) continue;
    fields.skip(16);
    if (fields.next(2) == back - kEndBytes) return size - back;
  }
  refuse_zip(file.name(), "is not a complete zip archive: the directory at its end is missing");
}

Directory find_directory(ByteReader& file) {
  const std::uint64_t size = file.size().value_or(0);
  const std::uint64_t end = find_end(file, size);
  std::array<std::byte, kEndBytes> record{};
  file.read(end, record);
  Fields fields(record);
  fields.skip(4);
  if (fields.next(2) != fields.next(2)) refuse_zip(file.name(), "is one of several volumes of a zip archive");
  fields.skip(2);
  Directory directory;
  directory.members = fields.next(2);
  directory.bytes = fields.next(4);
  directory.offset = fields.next(4);

  if (end < kEnd64LocatorBytes) return directory;
  std::array<std::byte, kEnd64LocatorBytes> locator{};
  file.read(end - kEnd64LocatorBytes, locator);
  Fields where(locator);
  if (where.next(4) != kEnd64Locator) return directory;
  where.skip(4);
  const std::uint64_t end64 = where.next(8);
  std::array<std::byte, kEnd64Bytes> record64{};
  if (size < kEnd64Bytes || end64 > size - kEnd64Bytes)
    refuse_zip(file.name(), "is damaged: its zip64 directory is missing");
  file.read(end64, record64);
  Fields wide(record64);
  if (wide.next(4) != kEnd64) refuse_zip(file.name(), "is damaged: its zip64 directory is missing");
  wide.skip(28);
  directory.members = wide.next(8);
  directory.bytes = wide.next(8);
  directory.offset = wide.next(8);
  return directory;
}

// The fields of `member` that are all ones are in extra field 1, in this order.
void read_zip64(Fields extra, ZipFile::Member& member) {
  constexpr std::uint64_t kOnes = 0xFFFFFFFF;
  while (extra.left() >= 4) {
    const std::uint64_t kind = extra.next(2);
    const std::size_t bytes = extra.next(2);
    if (kind != 1) {
      extra.skip(bytes);
      continue;
    }
    for (std::uint64_t* const field : {&member.part.bytes, &member.part.packed_bytes, &member.header}) {
      if (*field == kOnes && extra.left() >= 8) *field = extra.next(8);
    }
    return;
  }
}

/// A part of a file that is stored unpacked.
class StoredPart final : public ByteReader {
 public:
  StoredPart(std::unique_ptr<ByteReader> file, std::string name, const PackedPart& part)
      : ByteReader(std::move(name)), file_(std::move(file)), part_(part) {}

  std::optional<std::uint64_t> size() const override { return part_.bytes; }

  std::size_t read_some(std::uint64_t offset, std::span<std::byte> bytes) override {
    if (offset >= part_.bytes) return 0;
    return file_->read_some(part_.offset + offset,
                            bytes.first(std::min<std::uint64_t>(bytes.size(), part_.bytes - offset)));
  }

 private:
  std::unique_ptr<ByteReader> file_;
  PackedPart part_;
};

void require_checksum(ByteReader& bytes, const PackedPart& part) {
  std::vector<std::byte> buffer(1U << 17);
  std::uint32_t crc = 0;
  for (std::uint64_t offset = 0; offset < part.bytes; offset += buffer.size()) {
    const auto piece = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), part.bytes - offset));
    bytes.read(offset, piece);
    crc = crc32(piece, crc);
  }
  if (crc != part.crc) {
    refuse_zip(bytes.name(), fmt::format("is corrupt: its checksum is {:08x}, not {:08x}", crc, part.crc));
  }
}

}  // namespace

ZipFile::ZipFile(const std::filesystem::path& file) : file_(file) {
  const auto bytes = open_plain(file);
  const Directory directory = find_directory(*bytes);
  const std::uint64_t size = bytes->size().value_or(0);
  if (directory.bytes > size || directory.offset > size - directory.bytes ||
      directory.members > directory.bytes / kEntryBytes) {
    refuse_zip(file.string(), "is damaged: its directory does not fit the file");
  }
  std::vector<std::byte> entries(directory.bytes);
  bytes->read(directory.offset, entries);
  std::span<const std::byte> rest = entries;
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    Fields fields(rest);
    Member member;
    const bool whole = fields.left() >= kEntryBytes && fields.next(4) == kDirectoryEntry;
    fields.skip(4);
    member.flags = static_cast<unsigned>(fields.next(2));
    member.method = static_cast<unsigned>(fields.next(2));
    fields.skip(4);
    member.part.crc = static_cast<std::uint32_t>(fields.next(4));
    member.part.packed_bytes = fields.next(4);
    member.part.bytes = fields.next(4);
    const std::uint64_t name = fields.next(2), extra = fields.next(2), comment = fields.next(2);
    fields.skip(8);
    member.header = fields.next(4);
    if (!whole || fields.left() < name + extra + comment) {
      refuse_zip(file.string(), fmt::format("is damaged: entry {} of its directory is broken", i));
    }
    member.name.assign(reinterpret_cast<const char*>(rest.data()) + kEntryBytes, name);
    read_zip64(Fields(rest.subspan(kEntryBytes + name, extra)), member);
    rest = rest.subspan(kEntryBytes + name + extra + comment);
    members_.push_back(std::move(member));
  }
}

std::unique_ptr<ByteReader> ZipFile::open(const Member& member) const {
  const std::string name = fmt::format("{}: {}", file_.string(), member.name);
  if ((member.flags & 1) != 0) refuse_zip(name, "is encrypted");
  if (member.method != 0 && member.method != 8) {
    refuse_zip(name, fmt::format("is packed by method {}; only stored and deflated members are supported",
                                 member.method));
  }
  auto file = open_plain(file_);
  std::array<std::byte, kLocalHeaderBytes> header{};
  if (file->read_some(member.header, header) < header.size() || Fields(header).next(4) != kLocalHeader) {
    refuse_zip(name, "is damaged: its position differs from the directory's");
  }
  Fields lengths(std::span<const std::byte>(header).last(4));
  PackedPart part = member.part;
  part.offset = member.header + kLocalHeaderBytes + lengths.next(2) + lengths.next(2);
  if (member.method == 8) return open_deflated(std::move(file), name, part);
  if (part.bytes != part.packed_bytes) refuse_zip(name, "is damaged: it is stored, but its two sizes differ");
  auto stored = std::make_unique<StoredPart>(std::move(file), name, part);
  require_checksum(*stored, part);
  return stored;
}

}  // namespace convoke::data_prep

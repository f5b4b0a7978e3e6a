#include "convoke/archive/zip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/file.hpp"

// Format: PKWARE's APPNOTE.TXT, 4.3. The directory of all members is at the end of the file; the end record
// after it gives its position. If a number does not fit its field, the field is all ones and the number is in
// zip64's end record, or in extra field 1 of the member.

namespace convoke::archive {
namespace {

constexpr std::uint32_t kEnd = 0x06054B50, kEnd64Locator = 0x07064B50, kEnd64 = 0x06064B50;
constexpr std::uint32_t kDirectoryEntry = 0x02014B50, kLocalHeader = 0x04034B50;
constexpr std::uint64_t kEndBytes = 22, kEnd64LocatorBytes = 20, kEnd64Bytes = 56;
constexpr std::uint64_t kEntryBytes = 46, kLocalHeaderBytes = 30;
constexpr std::uint64_t kMostComment = 0xFFFF;
constexpr std::uint64_t kMostDirectory = std::uint64_t{64} << 20;  // bytes; held in memory
constexpr unsigned kStoredMethod = 0, kDeflatedMethod = 8, kEncrypted = 1;

[[noreturn]] void refuse_zip(const std::string& name, const std::string& why) {
  throw Error(fmt::format("{}: {}", name, why), "the file is truncated or damaged: copy it or save it again");
}

// Deflate expands at most 1032 times. Members that are read whole hardly shrink, so a large member that
// expands much is a bomb.
bool is_bomb(const PackedPart& part) {
  constexpr std::uint64_t kMost = 1032, kLarge = std::uint64_t{64} << 20, kMostOfLarge = 32;
  return part.bytes / kMost > part.packed_bytes + 1 ||
         (part.bytes > kLarge && part.bytes / kMostOfLarge > part.packed_bytes);
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
  std::optional<std::uint64_t> offset_in_file() const override { return part_.offset; }

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

// The entries of the directory, one after the other.
std::vector<ZipFile::Member> read_members(ByteReader& file, const Directory& directory) {
  const std::uint64_t size = file.size().value_or(0);
  if (directory.bytes > size || directory.offset > size - directory.bytes ||
      directory.members > directory.bytes / kEntryBytes || directory.bytes > kMostDirectory) {
    refuse_zip(file.name(), "is damaged: its directory does not fit the file");
  }
  std::vector<std::byte> entries(directory.bytes);
  file.read(directory.offset, entries);
  std::span<const std::byte> rest = entries;
  std::vector<ZipFile::Member> members;
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    Fields fields(rest);
    ZipFile::Member member;
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
      refuse_zip(file.name(), fmt::format("is damaged: entry {} of its directory is broken", i));
    }
    member.name.assign(reinterpret_cast<const char*>(rest.data()) + kEntryBytes, name);
    read_zip64(Fields(rest.subspan(kEntryBytes + name, extra)), member);
    rest = rest.subspan(kEntryBytes + name + extra + comment);
    members.push_back(std::move(member));
  }
  return members;
}

// Refuses two members of one name, and members that are not one after the other in front of the directory.
void check_members(const std::string& file, std::span<const ZipFile::Member> members,
                   std::uint64_t directory) {
  std::vector<const ZipFile::Member*> sorted;
  for (const ZipFile::Member& member : members) sorted.push_back(&member);
  std::ranges::sort(sorted, {}, &ZipFile::Member::name);
  const auto twin = std::ranges::adjacent_find(sorted, {}, &ZipFile::Member::name);
  if (twin != sorted.end())
    refuse_zip(file, fmt::format("is damaged: it has two members {}", one_line((*twin)->name)));
  std::ranges::sort(sorted, {}, &ZipFile::Member::header);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const ZipFile::Member& member = *sorted[i];
    const std::uint64_t end = i + 1 < sorted.size() ? sorted[i + 1]->header : directory;
    const std::uint64_t header = kLocalHeaderBytes + member.name.size();
    if (member.header > directory || directory - member.header < header ||
        member.part.packed_bytes > directory - member.header - header) {
      refuse_zip(file, fmt::format("is damaged: its member {} lies outside of it", one_line(member.name)));
    }
    if (member.header + header + member.part.packed_bytes > end) {
      refuse_zip(file, fmt::format("is damaged: its members {} and {} overlap", one_line(member.name),
                                   one_line(sorted[i + 1]->name)));
    }
  }
}

}  // namespace

ZipFile::ZipFile(const std::filesystem::path& file) : file_(file) {
  const auto bytes = open_plain(file);
  const Directory directory = find_directory(*bytes);
  members_ = read_members(*bytes, directory);
  check_members(file.string(), members_, directory.offset);
}

const ZipFile::Member* ZipFile::find(std::string_view name) const {
  const auto member = std::ranges::find(members_, name, &Member::name);
  return member == members_.end() ? nullptr : &*member;
}

bool ZipFile::contains(std::string_view name) const { return find(name) != nullptr; }

std::unique_ptr<ByteReader> ZipFile::open(std::string_view name) const {
  const Member* const member = find(name);
  if (member == nullptr)
    throw Error(fmt::format("{}: has no member {}", file_.string(), one_line(name)),
                fmt::format("list its members with unzip -l {}", file_.string()));
  std::string where = fmt::format("{}: {}", file_.string(), one_line(name));
  if ((member->flags & kEncrypted) != 0) throw Error(where + ": is encrypted", "save it without a password");
  if (member->method != kStoredMethod && member->method != kDeflatedMethod) {
    throw Error(fmt::format("{}: is packed by method {}; only stored and deflated members are supported",
                            where, member->method),
                "save it again, stored or deflated: zip packs so");
  }
  auto file = open_plain(file_);
  std::array<std::byte, kLocalHeaderBytes> header{};
  if (file->read_some(member->header, header) < header.size() || Fields(header).next(4) != kLocalHeader) {
    refuse_zip(where, "is damaged: its position differs from the directory's");
  }
  Fields lengths(std::span<const std::byte>(header).last(4));
  PackedPart part = member->part;
  part.offset = member->header + kLocalHeaderBytes + lengths.next(2) + lengths.next(2);
  if (member->method == kDeflatedMethod) return open_deflated(std::move(file), std::move(where), part);
  if (part.bytes != part.packed_bytes)
    refuse_zip(where, "is damaged: it is stored, but its two sizes differ");
  auto stored = std::make_unique<StoredPart>(std::move(file), std::move(where), part);
  require_checksum(*stored, part);
  return stored;
}

std::string ZipFile::text(std::string_view name, std::uint64_t most) const {
  const auto bytes = open(name);
  const PackedPart& part = find(name)->part;
  if (part.bytes > most || is_bomb(part)) {
    refuse_zip(bytes->name(), fmt::format("announces {} from {}, which is not plausible",
                                          format_bytes(part.bytes), format_bytes(part.packed_bytes)));
  }
  std::string text(part.bytes, '\0');
  bytes->read(0, std::as_writable_bytes(std::span(text)));
  std::byte beyond{};
  bytes->read_some(part.bytes, std::span(&beyond, 1));  // checks the checksum
  return text;
}

namespace {

// Little-endian numbers of 2 and 4 bytes.
std::string numbers16(std::initializer_list<std::uint32_t> values) {
  std::string bytes;
  for (const std::uint32_t value : values) {
    bytes += static_cast<char>(value & 0xFF);
    bytes += static_cast<char>(value >> 8 & 0xFF);
  }
  return bytes;
}
std::string numbers32(std::initializer_list<std::uint64_t> values) {
  std::string bytes;
  for (const std::uint64_t value : values)
    bytes += numbers16({static_cast<std::uint32_t>(value & 0xFFFF), static_cast<std::uint32_t>(value >> 16)});
  return bytes;
}

constexpr std::uint32_t kVersion = 20, kUtf8 = 1U << 11, kTime = 0, kDate = 1 << 5 | 1;
constexpr std::uint64_t kMost = 0xFFFFFFFF, kHeaders = 30 + 46 + 22;  // of an entry, and the end

// The fields that the header before the data and the central directory share.
std::string shared_fields(const ZipEntry& entry, std::uint32_t crc, std::uint64_t size) {
  return numbers16({kVersion, kUtf8, kStoredMethod, kTime, kDate}) + numbers32({crc, size, size}) +
         numbers16({static_cast<std::uint32_t>(entry.name.size()), 0});
}

template <class Take>
void in_pieces(const ZipEntry& entry, Take take) {
  if (entry.file.empty()) return take(std::as_bytes(std::span(entry.text)));
  const os::File file(entry.file, os::Access::kRead);
  std::vector<std::byte> piece(1U << 20);
  const std::uint64_t size = file.size();
  for (std::uint64_t at = 0; at < size; at += piece.size()) {
    piece.resize(std::min<std::uint64_t>(piece.size(), size - at));
    file.read_at(at, piece);
    take(std::span<const std::byte>(piece));
  }
}

}  // namespace

void write_zip(const std::filesystem::path& archive, std::span<const ZipEntry> entries) {
  constexpr std::size_t kMostEntries = 0xFFFF;
  if (entries.size() > kMostEntries) {
    throw Error(fmt::format("{}: the model has {} entries, more than a zip archive", archive.string(),
                            entries.size()),
                "export it with --format h5");
  }
  os::File out(archive, os::Access::kTruncate);
  std::uint64_t at = 0;
  const auto write = [&](std::span<const std::byte> bytes) {
    out.write_at(at, bytes);
    at += bytes.size();
  };
  const auto write_text = [&](const std::string& text) { write(std::as_bytes(std::span(text))); };
  std::string directory;
  for (const ZipEntry& entry : entries) {
    std::uint32_t crc = 0;
    std::uint64_t size = 0;
    in_pieces(entry, [&](std::span<const std::byte> bytes) {
      crc = crc32(bytes, crc);
      size += bytes.size();
    });
    if (at + size + directory.size() + kHeaders + 2 * entry.name.size() > kMost) {
      throw Error(fmt::format("{}: the model exceeds 4 GiB, the limit of a zip archive", archive.string()),
                  "export it with --format h5");
    }
    directory += "PK\x01\x02" + numbers16({kVersion}) + shared_fields(entry, crc, size) +
                 numbers16({0, 0, 0}) + numbers32({0, at}) + entry.name;
    write_text("PK\x03\x04" + shared_fields(entry, crc, size) + entry.name);
    in_pieces(entry, write);
  }
  const auto count = static_cast<std::uint32_t>(entries.size());
  const std::string end =
      "PK\x05\x06" + numbers16({0, 0, count, count}) + numbers32({directory.size(), at}) + numbers16({0});
  write_text(directory);
  write_text(end);
  out.close();
}

}  // namespace convoke::archive

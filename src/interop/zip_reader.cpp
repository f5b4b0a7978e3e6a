#include "interop/zip_reader.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <span>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::interop {
namespace {

constexpr std::uint32_t kEndMark = 0x06054b50, kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr std::size_t kEndRecordBytes = 22, kEntryRecordBytes = 46, kLocalHeaderBytes = 30;
constexpr unsigned kStoredMethod = 0, kDeflatedMethod = 8, kEncrypted = 1;

std::uint32_t little_endian(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = count; i-- > 0;)
    value = value << 8 | std::to_integer<std::uint32_t>(bytes.subspan(at)[i]);
  return value;
}
std::uint32_t word16(std::span<const std::byte> bytes, std::size_t at) { return little_endian(bytes, at, 2); }
std::uint32_t word32(std::span<const std::byte> bytes, std::size_t at) { return little_endian(bytes, at, 4); }

constexpr std::size_t kZipPieceBytes = 1U << 18;  // read at a time

std::uint32_t checksum(std::uint32_t before, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Deflate expands at most 1032 times. Weights hardly shrink, so a large entry that expands much is a bomb.
bool is_bomb(std::uint64_t packed, std::uint64_t bytes) {
  constexpr std::uint64_t kMost = 1032, kLarge = std::uint64_t{64} << 20, kMostOfLarge = 32;
  return bytes > packed * kMost + 64 || (bytes > kLarge && bytes / kMostOfLarge > packed);
}

}  // namespace

ZipReader::ZipReader(const std::filesystem::path& file)
    : file_(file, os::Access::kRead), size_(file_.size()) {
  read_directory();
  refuse_overlaps();
}

void ZipReader::damaged(const std::string& what) const {
  throw Error(fmt::format("{}: {}", file_.path().string(), what),
              "the file is truncated or damaged: copy or save it again");
}

// The end record is behind all entries, followed by a comment of at most 64 KiB.
void ZipReader::read_directory() {
  const std::uint64_t tail = std::min<std::uint64_t>(size_, kEndRecordBytes + 0xFFFF);
  std::vector<std::byte> bytes(tail);
  file_.read_at(size_ - tail, bytes);
  std::size_t at = tail < kEndRecordBytes ? 0 : tail - kEndRecordBytes + 1;
  while (at > 0 && word32(bytes, at - 1) != kEndMark) --at;
  if (at == 0) damaged("is a zip file without its directory");
  const auto end = std::span<const std::byte>(bytes).subspan(at - 1);
  const std::uint64_t count = word16(end, 10), directory_bytes = word32(end, 12), offset = word32(end, 16);
  const std::uint64_t end_offset = size_ - tail + at - 1;
  if (offset > end_offset || directory_bytes > end_offset - offset || directory_bytes > (1U << 24)) {
    damaged("the directory of the zip file lies outside the file");
  }
  std::vector<std::byte> directory(directory_bytes);
  file_.read_at(offset, directory);
  std::span<const std::byte> left(directory);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (left.size() < kEntryRecordBytes || word32(left, 0) != kEntryMark) {
      damaged("the directory of the zip file is damaged");
    }
    const std::size_t name = word16(left, 28), rest = word16(left, 30) + word16(left, 32);
    if (left.size() - kEntryRecordBytes < name + rest) damaged("the directory of the zip file is damaged");
    Entry entry;
    entry.name.assign(reinterpret_cast<const char*>(left.data()) + kEntryRecordBytes, name);
    entry.method = word16(left, 10);
    entry.crc = word32(left, 16);
    entry.packed = word32(left, 20);
    entry.bytes = word32(left, 24);
    const std::string shown = one_line(entry.name);
    if (entry.packed == 0xFFFFFFFF || entry.bytes == 0xFFFFFFFF || (word16(left, 8) & kEncrypted) != 0) {
      damaged(fmt::format("its entry {} is encrypted or larger than 4 GiB, which is not supported", shown));
    }
    if (find(entry.name) != nullptr) damaged(fmt::format("has two entries {}", shown));
    if (is_bomb(entry.packed, entry.bytes)) {
      damaged(fmt::format("its entry {} announces {} from {}, which is not plausible", shown,
                          format_bytes(entry.bytes), format_bytes(entry.packed)));
    }
    locate(entry, word32(left, 42));
    if (entries_.size() == 4096) damaged("has more entries than a model has");
    entries_.push_back(std::move(entry));
    left = left.subspan(kEntryRecordBytes + name + rest);
  }
}

void ZipReader::locate(Entry& entry, std::uint64_t header) const {
  std::vector<std::byte> local(kLocalHeaderBytes);
  const bool inside = header <= size_ && size_ - header >= kLocalHeaderBytes;
  if (inside) file_.read_at(header, local);
  if (!inside || word32(local, 0) != kLocalMark) {
    damaged(fmt::format("its entry {} has no header", one_line(entry.name)));
  }
  entry.data = header + kLocalHeaderBytes + word16(local, 26) + word16(local, 28);
  if (entry.data > size_ || entry.packed > size_ - entry.data) {
    damaged(fmt::format("ends before its entry {} does", one_line(entry.name)));
  }
}

void ZipReader::refuse_overlaps() const {
  std::vector<const Entry*> ordered;
  for (const Entry& entry : entries_) ordered.push_back(&entry);
  std::sort(ordered.begin(), ordered.end(), [](const Entry* a, const Entry* b) { return a->data < b->data; });
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    if (ordered[i - 1]->data + ordered[i - 1]->packed > ordered[i]->data) {
      damaged(fmt::format("its entries {} and {} overlap", one_line(ordered[i - 1]->name),
                          one_line(ordered[i]->name)));
    }
  }
}

const ZipReader::Entry* ZipReader::find(std::string_view name) const {
  const auto entry =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
  return entry == entries_.end() ? nullptr : &*entry;
}

bool ZipReader::contains_ending(std::string_view ending) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.name.ends_with(ending); });
}

bool ZipReader::contains(std::string_view name) const { return find(name) != nullptr; }

const ZipReader::Entry& ZipReader::readable(std::string_view name) const {
  const Entry* entry = find(name);
  if (entry == nullptr) damaged(fmt::format("has no entry {}", name));
  if (entry->method != kStoredMethod && entry->method != kDeflatedMethod) {
    damaged(fmt::format("its entry {} is compressed by another method than deflate", name));
  }
  if (entry->method == kStoredMethod && entry->packed != entry->bytes) {
    damaged(fmt::format("the sizes of its entry {} disagree", name));
  }
  return *entry;
}

void ZipReader::check_crc(const Entry& entry, std::uint32_t crc) const {
  if (crc != entry.crc) damaged(fmt::format("the checksum of its entry {} is wrong", one_line(entry.name)));
}

std::optional<ZipReader::Range> ZipReader::stored(std::string_view name) const {
  const Entry& entry = readable(name);
  if (entry.method != kStoredMethod) return std::nullopt;
  std::vector<std::byte> piece(std::min<std::uint64_t>(entry.bytes, kZipPieceBytes));
  std::uint32_t crc = 0;
  for (std::uint64_t at = 0; at < entry.bytes; at += piece.size()) {
    piece.resize(std::min<std::uint64_t>(entry.bytes - at, kZipPieceBytes));
    file_.read_at(entry.data + at, piece);
    crc = checksum(crc, piece);
  }
  check_crc(entry, crc);
  return Range{entry.data, entry.bytes};
}

std::vector<std::byte> ZipReader::read(std::string_view name, std::uint64_t most) const {
  const Entry* const entry = &readable(name);
  if (entry->bytes > most) {
    damaged(fmt::format("its entry {} has {}; {} is the most", name, format_bytes(entry->bytes),
                        format_bytes(most)));
  }
  std::vector<std::byte> contents(entry->bytes);
  if (entry->method == kStoredMethod) {
    file_.read_at(entry->data, contents);
  } else {
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw Error("zlib cannot start");
    std::vector<std::byte> packed(kZipPieceBytes);
    stream.next_out = reinterpret_cast<Bytef*>(contents.data());
    std::uint64_t in = 0;
    int status = Z_OK;
    while (status == Z_OK) {
      if (stream.avail_in == 0) {
        if (in == entry->packed) break;
        const std::uint64_t piece = std::min<std::uint64_t>(packed.size(), entry->packed - in);
        file_.read_at(entry->data + in, std::span(packed).first(piece));
        in += piece;
        stream.next_in = reinterpret_cast<Bytef*>(packed.data());
        stream.avail_in = static_cast<uInt>(piece);
      }
      const std::uint64_t room = entry->bytes - stream.total_out;
      stream.avail_out = static_cast<uInt>(std::min<std::uint64_t>(room, std::numeric_limits<uInt>::max()));
      status = inflate(&stream, Z_NO_FLUSH);
    }
    const bool complete = status == Z_STREAM_END && stream.total_out == entry->bytes;
    inflateEnd(&stream);
    if (!complete) damaged(fmt::format("its entry {} does not expand to {} bytes", name, entry->bytes));
  }
  check_crc(*entry, checksum(0, contents));
  return contents;
}

std::string ZipReader::text(std::string_view name, std::uint64_t most) const {
  const std::vector<std::byte> bytes = read(name, most);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace convoke::interop

#include "convoke/archive/byte_reader.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/os/file.hpp"

namespace convoke::archive {
namespace {

class PlainFile final : public ByteReader {
 public:
  explicit PlainFile(const std::filesystem::path& file)
      : ByteReader(file.string()), file_(file, os::Access::kRead), size_(file_.size()) {
    if (std::filesystem::is_directory(file)) {
      throw Error(fmt::format("{}: cannot be opened: it is a folder", name()));
    }
  }

  std::optional<std::uint64_t> size() const override { return size_; }
  std::optional<std::uint64_t> offset_in_file() const override { return 0; }

  std::size_t read_some(std::uint64_t offset, std::span<std::byte> bytes) override {
    return file_.read_some_at(offset, bytes);
  }

 private:
  os::File file_;
  std::uint64_t size_;
};

}  // namespace

void ByteReader::read(std::uint64_t offset, std::span<std::byte> bytes) {
  const std::size_t got = read_some(offset, bytes);
  if (got < bytes.size()) {
    const std::uint64_t end = offset + got;
    throw Error(
        fmt::format("{}: is truncated: it ends after {} bytes", name_, std::min(end, size().value_or(end))),
        "get it again, and compare its size");
  }
}

std::unique_ptr<ByteReader> open_plain(const std::filesystem::path& file) {
  return std::make_unique<PlainFile>(file);
}

std::unique_ptr<ByteReader> open_bytes(const std::filesystem::path& file) {
  auto plain = open_plain(file);
  return file.extension() == ".gz" || begins_as_gzip(*plain) ? open_gzip(file) : std::move(plain);
}

namespace {

constexpr std::size_t kBufferBytes = 1U << 17;

constexpr const char* kDamaged = "get it again, and compare its checksum";

/// A deflated stream: a gzip file, whose checksums zlib checks, or a part of a file.
class Inflated final : public ByteReader {
 public:
  /// `part`: of `packed`; none: a gzip file.
  Inflated(std::unique_ptr<ByteReader> packed, std::string name, const std::optional<PackedPart>& part)
      : ByteReader(std::move(name)), packed_(std::move(packed)), part_(part), input_(kBufferBytes) {
    if (part_) {
      begin_ = part_->offset;
      end_ = part_->offset + part_->packed_bytes;
    }
    at_ = begin_;
    if (inflateInit2(&stream_, part_ ? -MAX_WBITS : 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  Inflated(const Inflated&) = delete;
  Inflated& operator=(const Inflated&) = delete;
  ~Inflated() override { inflateEnd(&stream_); }

  std::optional<std::uint64_t> size() const override {
    return part_ ? std::optional(part_->bytes) : std::nullopt;
  }

  std::size_t read_some(std::uint64_t offset, std::span<std::byte> bytes) override {
    if (offset < position_ - window_.size()) rewind();
    std::size_t done = 0;
    while (done < bytes.size()) {
      const std::uint64_t begin = position_ - window_.size();  // of the window
      if (offset + done >= position_) {
        if (!next_window()) break;
        continue;
      }
      const auto there = std::span(window_).subspan(offset + done - begin);
      const std::size_t taken = std::min(there.size(), bytes.size() - done);
      std::copy_n(there.begin(), taken, bytes.begin() + static_cast<std::ptrdiff_t>(done));
      done += taken;
    }
    return done;
  }

 private:
  // Takes the next unpacked bytes of a part into account.
  void add_to_checksum(std::span<const std::byte> bytes) {
    if (!part_) return;
    if (position_ + bytes.size() > part_->bytes) refuse_size(position_ + bytes.size());
    crc_ = crc32(bytes, crc_);
  }

  // At the end of a stream: checks a part, and returns true if another stream of a gzip file follows.
  // Anything else after a stream is padding, as for gzip.
  bool has_next_stream() {
    if (!part_) {
      if (stream_.avail_in == 0) fill();
      return stream_.avail_in > 0 && *stream_.next_in == 0x1F;
    }
    if (position_ != part_->bytes) refuse_size(position_);
    if (crc_ != part_->crc) {
      throw Error(fmt::format("{}: is corrupt: its checksum is {:08x}, not {:08x}", name(), crc_, part_->crc),
                  kDamaged);
    }
    return false;
  }

  [[noreturn]] void refuse_size(std::uint64_t bytes) const {
    throw Error(fmt::format("{}: is corrupt: it has {} bytes unpacked, not {}", name(), bytes, part_->bytes),
                kDamaged);
  }

  void rewind() {
    inflateReset(&stream_);
    stream_.avail_in = 0;
    at_ = begin_;
    position_ = 0;
    window_.clear();
    ended_ = false;
    crc_ = 0;
  }

  void fill() {
    const std::size_t wanted = std::min<std::uint64_t>(kBufferBytes, end_ - at_);
    const std::size_t got = packed_->read_some(at_, std::span(input_).first(wanted));
    at_ += got;
    stream_.next_in = reinterpret_cast<unsigned char*>(input_.data());
    stream_.avail_in = static_cast<unsigned>(got);
  }

  // Returns false at the end. After an exception the window is empty.
  bool next_window() {
    std::vector<std::byte> bytes = std::move(window_);
    window_.clear();
    bytes.resize(kBufferBytes);
    bytes.resize(inflate_some(bytes));
    window_ = std::move(bytes);
    return !window_.empty();
  }

  std::size_t inflate_some(std::span<std::byte> bytes) {
    std::size_t done = 0;
    while (done < bytes.size() && !ended_) {
      if (stream_.avail_in == 0) fill();
      const std::size_t room = std::min<std::size_t>(bytes.size() - done, 1U << 30);
      stream_.next_out = reinterpret_cast<unsigned char*>(bytes.data() + done);
      stream_.avail_out = static_cast<unsigned>(room);
      const bool exhausted = stream_.avail_in == 0;
      const int state = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t got = room - stream_.avail_out;
      add_to_checksum(bytes.subspan(done, got));
      done += got;
      position_ += got;
      if (state == Z_STREAM_END) {
        if (has_next_stream()) {
          inflateReset(&stream_);
        } else {
          ended_ = true;
        }
      } else if (state == Z_BUF_ERROR && exhausted) {
        throw Error(fmt::format("{}: is truncated: its packed bytes end after {} (unpacked) bytes", name(),
                                position_),
                    "get it again, and compare its size");
      } else if (state != Z_OK && state != Z_BUF_ERROR) {
        throw Error(fmt::format("{}: is corrupt: {}", name(),
                                stream_.msg == nullptr ? "no deflated bytes" : stream_.msg),
                    kDamaged);
      }
    }
    return done;
  }

  std::unique_ptr<ByteReader> packed_;
  std::optional<PackedPart> part_;
  std::uint64_t begin_ = 0, end_ = std::numeric_limits<std::uint64_t>::max();  // of the bytes in packed_
  std::uint64_t at_ = 0;        // in packed_: the next byte to read
  std::uint64_t position_ = 0;  // in the unpacked bytes: the end of the window
  bool ended_ = false;
  std::uint32_t crc_ = 0;  // of the unpacked bytes of a part
  std::vector<std::byte> input_, window_;
  z_stream stream_{};
};

}  // namespace

bool begins_as_gzip(ByteReader& file) {
  std::array<std::byte, 2> magic{};
  return file.read_some(0, magic) == 2 && magic[0] == std::byte{0x1F} && magic[1] == std::byte{0x8B};
}

std::unique_ptr<ByteReader> open_gzip(const std::filesystem::path& file) {
  auto plain = open_plain(file);
  if (!begins_as_gzip(*plain)) {
    throw Error(fmt::format("{}: is not a gzip file", file.string()), "get it again, and compare its size");
  }
  return std::make_unique<Inflated>(std::move(plain), file.string(), std::nullopt);
}

std::unique_ptr<ByteReader> open_deflated(std::unique_ptr<ByteReader> file, std::string name,
                                          const PackedPart& part) {
  return std::make_unique<Inflated>(std::move(file), std::move(name), part);
}

}  // namespace convoke::archive

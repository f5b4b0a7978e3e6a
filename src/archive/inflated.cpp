#include "convoke/archive/inflated.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"

namespace convoke::archive {
namespace {

constexpr std::size_t kBufferBytes = 1U << 17;

constexpr const char* kDamaged = "get it again, and compare its checksum";

/// A deflated stream: a gzip file, whose checksums zlib checks, or a part of a file.
class Inflated : public ByteReader {
 public:
  /// `begin`, `end`: of the packed bytes within `packed`.
  Inflated(std::unique_ptr<ByteReader> packed, std::string name, std::uint64_t begin, std::uint64_t end,
           int window_bits)
      : ByteReader(std::move(name)),
        packed_(std::move(packed)),
        begin_(begin),
        end_(end),
        at_(begin),
        input_(kBufferBytes) {
    if (inflateInit2(&stream_, window_bits) != Z_OK) throw std::bad_alloc();
  }
  Inflated(const Inflated&) = delete;
  Inflated& operator=(const Inflated&) = delete;
  ~Inflated() override { inflateEnd(&stream_); }

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

 protected:
  /// Called after `bytes` were unpacked, in order.
  virtual void unpacked(std::span<const std::byte> bytes) { static_cast<void>(bytes); }
  /// Called when the stream restarts.
  virtual void restarted() {}
  /// Called at the end of a stream: checks it, and returns true if another stream follows.
  virtual bool has_next_stream() { return false; }

  std::uint64_t position() const { return position_; }

  /// Returns the next packed byte, or none at the end.
  std::optional<std::uint8_t> peek() {
    if (stream_.avail_in == 0) fill();
    if (stream_.avail_in == 0) return {};
    return *stream_.next_in;
  }

 private:
  void rewind() {
    inflateReset(&stream_);
    stream_.avail_in = 0;
    at_ = begin_;
    position_ = 0;
    window_.clear();
    ended_ = false;
    restarted();
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
      unpacked(bytes.subspan(done, got));
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
  std::uint64_t begin_, end_;
  std::uint64_t at_;            // in packed_: the next byte to read
  std::uint64_t position_ = 0;  // in the unpacked bytes: the end of the window
  bool ended_ = false;
  std::vector<std::byte> input_, window_;
  z_stream stream_{};
};

class GzipFile final : public Inflated {
 public:
  GzipFile(std::unique_ptr<ByteReader> file, std::string name)
      : Inflated(std::move(file), std::move(name), 0, std::numeric_limits<std::uint64_t>::max(),
                 16 + MAX_WBITS) {}
  std::optional<std::uint64_t> size() const override { return {}; }

 private:
  // A file may contain several gzip streams, one after the other; anything else after a stream is padding, as
  // for gzip.
  bool has_next_stream() override { return peek() == std::uint8_t{0x1F}; }
};

class DeflatedPart final : public Inflated {
 public:
  DeflatedPart(std::unique_ptr<ByteReader> file, std::string name, const PackedPart& part)
      : Inflated(std::move(file), std::move(name), part.offset, part.offset + part.packed_bytes, -MAX_WBITS),
        part_(part) {}
  std::optional<std::uint64_t> size() const override { return part_.bytes; }

 private:
  void restarted() override { crc_ = 0; }
  void unpacked(std::span<const std::byte> bytes) override {
    if (position() + bytes.size() > part_.bytes) refuse_size(position() + bytes.size());
    crc_ = crc32(bytes, crc_);
  }
  bool has_next_stream() override {
    if (position() != part_.bytes) refuse_size(position());
    if (crc_ != part_.crc) {
      throw Error(fmt::format("{}: is corrupt: its checksum is {:08x}, not {:08x}", name(), crc_, part_.crc),
                  kDamaged);
    }
    return false;
  }

  [[noreturn]] void refuse_size(std::uint64_t bytes) const {
    throw Error(fmt::format("{}: is corrupt: it has {} bytes unpacked, not {}", name(), bytes, part_.bytes),
                kDamaged);
  }

  PackedPart part_;
  std::uint32_t crc_ = 0;
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
  return std::make_unique<GzipFile>(std::move(plain), file.string());
}

std::unique_ptr<ByteReader> open_deflated(std::unique_ptr<ByteReader> file, std::string name,
                                          const PackedPart& part) {
  return std::make_unique<DeflatedPart>(std::move(file), std::move(name), part);
}

}  // namespace convoke::archive

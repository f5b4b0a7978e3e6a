#include "sources/idx_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <system_error>

#include "convoke/core/error.hpp"

namespace convoke::data_prep {
namespace {

std::uint32_t big_endian(std::span<const std::uint8_t, 4> bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | bytes[3];
}

}  // namespace

void IdxFile::Close::operator()(gzFile_s* file) const { gzclose(file); }

IdxFile::IdxFile(const std::filesystem::path& file, std::size_t axes, const char* what) : file_(file) {
  errno = 0;
  stream_.reset(gzopen(file.c_str(), "rb"));
  if (stream_ == nullptr) {
    throw Error(
        fmt::format("{}: cannot be opened: {}", file.string(), std::generic_category().message(errno)));
  }
  gzbuffer(stream_.get(), 1U << 17);
  // zlib passes on what is not gzip as it is.
  if (file.extension() == ".gz" && gzdirect(stream_.get()) != 0) {
    throw Error(fmt::format("{}: is not a gzip file", file.string()), "get it again, and compare its size");
  }

  std::vector<std::uint8_t> header(4 + 4 * axes);
  read_bytes(header);
  const std::uint32_t magic = big_endian(std::span(header).first<4>());
  const std::uint32_t expected = 0x800 + static_cast<std::uint32_t>(axes);
  if (magic != expected) {
    throw Error(fmt::format("{}: is no IDX file of {}: it begins with {:#010x}, not {:#010x}", file.string(),
                            what, magic, expected));
  }
  item_bytes_ = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    extents_.push_back(big_endian(std::span(header).subspan(4 + 4 * axis).first<4>()));
    if (axis > 0) item_bytes_ *= static_cast<std::uint64_t>(extents_.back());
    if (extents_.back() == 0 || item_bytes_ > 1U << 30) {
      throw Error(fmt::format("{}: says that its {} have shape ({})", file.string(), what,
                              fmt::join(extents_, ", ")));
    }
  }
  header_bytes_ = header.size();
}

void IdxFile::read_bytes(std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const auto wanted = static_cast<unsigned>(std::min<std::size_t>(bytes.size(), 1U << 30));
    const int got = gzread(stream_.get(), bytes.data(), wanted);
    int error = Z_OK;
    const char* const reason = gzerror(stream_.get(), &error);
    // A gzip file cut short is Z_BUF_ERROR, which comes with the last bytes there were.
    if (got == 0 || (static_cast<unsigned>(got) < wanted && error == Z_BUF_ERROR)) {
      throw Error(fmt::format("{}: is truncated: it ends after {} bytes{}", file_.string(),
                              position_ + static_cast<std::uint64_t>(std::max(0, got)),
                              gzdirect(stream_.get()) != 0 ? "" : " (unpacked)"),
                  "get it again, and compare its size");
    }
    if (got < 0) {
      throw Error(
          fmt::format("{}: is corrupt: {}", file_.string(),
                      error == Z_ERRNO ? std::generic_category().message(errno) : std::string(reason)),
          "get it again, and compare its checksum");
    }
    position_ += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

void IdxFile::seek(std::uint64_t offset) {
  if (offset < position_) {
    gzrewind(stream_.get());
    position_ = 0;
  }
  std::vector<std::uint8_t> skipped(std::min<std::uint64_t>(offset - position_, 1U << 20));
  while (position_ < offset) {
    read_bytes(std::span(skipped).first(std::min<std::uint64_t>(skipped.size(), offset - position_)));
  }
}

// Reading past the last byte makes zlib compare gzip's checksum.
void IdxFile::expect_end() {
  std::uint8_t more = 0;
  const int got = gzread(stream_.get(), &more, 1);
  int error = Z_OK;
  const char* const reason = gzerror(stream_.get(), &error);
  if (error == Z_BUF_ERROR) {
    throw Error(fmt::format("{}: is truncated: the end of its gzip stream is missing", file_.string()),
                "get it again, and compare its size");
  }
  if (got < 0) {
    throw Error(fmt::format("{}: is corrupt: {}", file_.string(), reason),
                "get it again, and compare its checksum");
  }
  if (got > 0) {
    throw Error(
        fmt::format("{}: goes on after the {} bytes its header announces", file_.string(), position_));
  }
}

void IdxFile::read(std::int64_t first, std::span<std::uint8_t> values) {
  assert(first >= 0 && values.size() % item_bytes_ == 0);
  const std::uint64_t total = header_bytes_ + static_cast<std::uint64_t>(extents_[0]) * item_bytes_;
  seek(header_bytes_ + static_cast<std::uint64_t>(first) * item_bytes_);
  read_bytes(values);
  assert(position_ <= total);
  if (position_ == total && !values.empty()) expect_end();
}

}  // namespace convoke::data_prep

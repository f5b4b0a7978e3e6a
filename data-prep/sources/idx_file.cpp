#include "sources/idx_file.hpp"

#include <fmt/format.h>

#include "convoke/core/error.hpp"

namespace convoke::data_prep {
namespace {

std::uint32_t big_endian(std::span<const std::uint8_t, 4> bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | bytes[3];
}

}  // namespace

IdxFile::IdxFile(const std::filesystem::path& file, std::size_t axes, const char* what)
    : file_(file), bytes_(archive::open_bytes(file)) {
  std::vector<std::uint8_t> header(4 + 4 * axes);
  bytes_->read(0, std::as_writable_bytes(std::span(header)));
  const std::uint32_t magic = big_endian(std::span(header).first<4>());
  const std::uint32_t expected = 0x800 + static_cast<std::uint32_t>(axes);
  if (magic != expected) {
    throw Error(fmt::format("{}: is not an IDX file of {}: it begins with {:#010x}, not {:#010x}",
                            file.string(), what, magic, expected));
  }
  item_bytes_ = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    extents_.push_back(big_endian(std::span(header).subspan(4 + 4 * axis).first<4>()));
    if (axis > 0) item_bytes_ *= static_cast<std::uint64_t>(extents_.back());
    if (extents_.back() == 0 || item_bytes_ > 1U << 30) {
      throw Error(fmt::format("{}: has an invalid header: its {} have shape ({})", file.string(), what,
                              fmt::join(extents_, ", ")));
    }
  }
  header_bytes_ = header.size();
}

void IdxFile::read(std::int64_t first, std::span<std::uint8_t> values) {
  ensure(first >= 0 && values.size() % item_bytes_ == 0, "whole items are read");
  const std::uint64_t total = header_bytes_ + static_cast<std::uint64_t>(extents_[0]) * item_bytes_;
  const std::uint64_t offset = header_bytes_ + static_cast<std::uint64_t>(first) * item_bytes_;
  ensure(offset + values.size() <= total, "the items lie within the file");
  bytes_->read(offset, std::as_writable_bytes(values));
  std::byte more{};
  if (offset + values.size() < total || bytes_->read_some(total, {&more, 1}) == 0) return;
  throw Error(
      fmt::format("{}: continues after the {} bytes that its header announces", file_.string(), total));
}

}  // namespace convoke::data_prep

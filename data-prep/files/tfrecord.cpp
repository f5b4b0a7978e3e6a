#include "convoke/data_prep/files/tfrecord.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "convoke/core/error.hpp"
#include "convoke/core/tfrecord.hpp"

namespace convoke::data_prep {
namespace {

constexpr std::size_t kLengthBytes = 8, kCrcBytes = 4;
constexpr std::uint64_t kMostBytes = 1U << 30;  // of a record: a larger one is not a picture

using Header = std::array<std::byte, kLengthBytes + kCrcBytes>;

// True if the last 4 bytes are the checksum of the bytes before them.
bool has_checksum(std::span<const std::byte> bytes) {
  std::uint32_t stored = 0;
  std::memcpy(&stored, bytes.last(kCrcBytes).data(), kCrcBytes);
  return stored == tfrecord_checksum(bytes.first(bytes.size() - kCrcBytes));
}

}  // namespace

bool TfRecordReader::next(TfRecord& record) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("{}: record {}: {}", bytes_->name(), records_, why),
                "get it again, and compare its size and checksum");
  };
  Header header{};
  const std::size_t got = bytes_->read_some(at_, header);
  if (got == 0) return false;
  if (got < header.size()) refuse("is truncated: its length is cut off");
  if (!has_checksum(header)) refuse("the checksum (CRC-32C) of its length is wrong");
  std::uint64_t length = 0;
  std::memcpy(&length, header.data(), kLengthBytes);
  if (length > kMostBytes) refuse(fmt::format("has {} bytes; at most {} are allowed", length, kMostBytes));
  record.offset = at_ + header.size();
  record.data.resize(length + kCrcBytes);
  if (bytes_->read_some(record.offset, record.data) < record.data.size()) {
    refuse(fmt::format("is truncated: its {} bytes are cut off", length));
  }
  record.whole = has_checksum(record.data);
  record.data.resize(length);
  at_ = record.offset + length + kCrcBytes;
  ++records_;
  return true;
}

bool begins_as_tfrecord(ByteReader& bytes) {
  Header header{};
  return bytes.read_some(0, header) == header.size() && has_checksum(header);
}

}  // namespace convoke::data_prep

#include "convoke/core/protobuf.hpp"

#include <cstring>

#include "convoke/core/error.hpp"

namespace convoke::protobuf {
namespace {

// Seven bits per byte, the lowest first; all bytes but the last have the eighth bit set.
std::string varint_of(std::uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>((number & 0x7F) | 0x80);
  return bytes + static_cast<char>(number);
}

std::string key_of(std::uint32_t number, Wire wire) {
  return varint_of(std::uint64_t{number} << 3 | static_cast<std::uint32_t>(wire));
}

template <class T>
std::string fixed(std::uint32_t number, Wire wire, T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return key_of(number, wire) + bytes;
}

template <class T>
double read_as(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return static_cast<double>(value);
}

}  // namespace

double Field::number_value() const {
  if (wire == Wire::kFixed32) return read_as<float>(bytes);
  return wire == Wire::kFixed64 ? read_as<double>(bytes) : 0;
}

bool Message::next(Field& field) {
  if (bytes_.empty()) return false;
  const std::uint64_t tag = varint();
  field = {.number = tag >> 3, .wire = static_cast<Wire>(tag & 7)};
  switch (field.wire) {
    case Wire::kVarint:
      field.value = varint();
      return true;
    case Wire::kFixed64:
      field.bytes = take(8);
      return true;
    case Wire::kBytes:
      field.bytes = take(varint());
      return true;
    case Wire::kFixed32:
      field.bytes = take(4);
      return true;
  }
  refuse();
}

std::uint64_t Message::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(take(1)[0]);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  refuse();
}

std::span<const std::byte> Message::take(std::uint64_t count) {
  if (count > bytes_.size()) refuse();
  const auto taken = bytes_.first(count);
  bytes_ = bytes_.subspan(count);
  return taken;
}

void Message::refuse() const { throw Error(*what_, *hint_); }

std::string field(std::uint32_t number, double value) { return fixed(number, Wire::kFixed64, value); }
std::string field(std::uint32_t number, float value) { return fixed(number, Wire::kFixed32, value); }
std::string field(std::uint32_t number, std::uint64_t value) {
  return key_of(number, Wire::kVarint) + varint_of(value);
}
std::string field(std::uint32_t number, std::int64_t value) {
  return field(number, static_cast<std::uint64_t>(value));
}
std::string field(std::uint32_t number, std::string_view bytes) {
  return field_header(number, bytes.size()).append(bytes);
}
std::string field_header(std::uint32_t number, std::uint64_t bytes) {
  return key_of(number, Wire::kBytes) + varint_of(bytes);
}

}  // namespace convoke::protobuf

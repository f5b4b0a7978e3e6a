#include "convoke/data_prep/files/tfrecord.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "convoke/core/error.hpp"
#include "convoke/core/tfrecord.hpp"

// An Example is three nested messages (tensorflow/core/example/{example,feature}.proto):
//
//   Example   { Features features = 1; }
//   Features  { map<string, Feature> feature = 1; }     an entry: { string key = 1; Feature value = 2; }
//   Feature   { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; }
//   a list    { repeated value = 1; }                   numbers packed, or one by one
//
// This reads the wire format (https://protobuf.dev/programming-guides/encoding/) directly: it does not copy
// the bytes of a picture, and preparing data does not need protobuf.

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

namespace {

enum class Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// A field of a message.
struct Field {
  std::uint64_t number = 0;
  Wire wire = Wire::kVarint;
  std::uint64_t value = 0;                // for kVarint
  std::span<const std::byte> bytes = {};  // for other kinds
};

/// The fields of a message, one after the other.
class Message {
 public:
  Message(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  bool next(Field& field) {
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

  /// True if no bytes are left.
  bool empty() const { return bytes_.empty(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(take(1)[0]);
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    refuse();
  }

  [[noreturn]] void refuse() const {
    throw Error(fmt::format("{}: is not a tf.train.Example", name_),
                "each record must hold a tf.train.Example with an encoded picture and a label");
  }

 private:
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size()) refuse();
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
};

void read_bytes(Message list, TfFeature& feature) {
  for (Field value; list.next(value);) {
    if (value.number != 1 || value.wire != Wire::kBytes) continue;
    if (feature.count++ == 0) feature.bytes = value.bytes;
  }
}

void read_floats(Message list, TfFeature& feature) {
  for (Field value; list.next(value);) {
    if (value.number != 1 || value.bytes.size() < sizeof(float)) continue;
    if (feature.count == 0) std::memcpy(&feature.number, value.bytes.data(), sizeof(float));
    feature.count += value.bytes.size() / sizeof(float);
  }
}

void read_integers(Message list, TfFeature& feature, const std::string& name) {
  const auto add = [&](std::uint64_t number) {
    if (feature.count++ == 0) feature.integer = static_cast<std::int64_t>(number);
  };
  for (Field value; list.next(value);) {
    if (value.number != 1) continue;
    if (value.wire == Wire::kVarint) add(value.value);
    if (value.wire != Wire::kBytes) continue;
    for (Message packed(value.bytes, name); !packed.empty();) add(packed.varint());
  }
}

TfFeature read_feature(std::span<const std::byte> entry, const std::string& name) {
  TfFeature feature;
  Message pair(entry, name);
  for (Field part; pair.next(part);) {
    if (part.wire != Wire::kBytes) continue;
    if (part.number == 1)
      feature.name = {reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size()};
    if (part.number != 2) continue;
    Message value(part.bytes, name);
    for (Field list; value.next(list);) {
      if (list.wire != Wire::kBytes || list.number < 1 || list.number > 3) continue;
      feature.kind = static_cast<TfFeature::Kind>(list.number);
      if (list.number == 1) read_bytes(Message(list.bytes, name), feature);
      if (list.number == 2) read_floats(Message(list.bytes, name), feature);
      if (list.number == 3) read_integers(Message(list.bytes, name), feature, name);
    }
  }
  return feature;
}

}  // namespace

std::vector<TfFeature> parse_tf_example(std::span<const std::byte> message, const std::string& name) {
  std::vector<TfFeature> features;
  Message example(message, name);
  for (Field field; example.next(field);) {
    if (field.number != 1 || field.wire != Wire::kBytes) example.refuse();
    Message map(field.bytes, name);
    for (Field entry; map.next(entry);) {
      if (entry.number != 1 || entry.wire != Wire::kBytes) example.refuse();
      features.push_back(read_feature(entry.bytes, name));
    }
  }
  return features;
}

}  // namespace convoke::data_prep

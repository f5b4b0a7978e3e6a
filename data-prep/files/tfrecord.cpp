#include "convoke/data_prep/files/tfrecord.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/protobuf.hpp"

// An Example is three nested messages (tensorflow/core/example/{example,feature}.proto):
//
//   Example   { Features features = 1; }
//   Features  { map<string, Feature> feature = 1; }     an entry: { string key = 1; Feature value = 2; }
//   Feature   { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; }
//   a list    { repeated value = 1; }                   numbers packed, or one by one
//
// Read by its wire format (core/protobuf.hpp), which does not copy the bytes of a picture.

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

bool begins_as_tfrecord(archive::ByteReader& bytes) {
  Header header{};
  return bytes.read_some(0, header) == header.size() && has_checksum(header);
}

namespace {

using protobuf::Field;
using protobuf::Message;
using protobuf::Wire;

const std::string kHint = "each record must hold a tf.train.Example with an encoded picture and a label";

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

void read_integers(Message list, TfFeature& feature) {
  const auto add = [&](std::uint64_t number) {
    if (feature.count++ == 0) feature.integer = static_cast<std::int64_t>(number);
  };
  for (Field value; list.next(value);) {
    if (value.number != 1) continue;
    if (value.wire == Wire::kVarint) add(value.value);
    if (value.wire != Wire::kBytes) continue;
    for (Message packed = list.within(value); !packed.empty();) add(packed.varint());
  }
}

TfFeature read_feature(Message pair) {
  TfFeature feature;
  for (Field part; pair.next(part);) {
    if (part.wire != Wire::kBytes) continue;
    if (part.number == 1) feature.name = part.text();
    if (part.number != 2) continue;
    Message value = pair.within(part);
    for (Field list; value.next(list);) {
      if (list.wire != Wire::kBytes || list.number < 1 || list.number > 3) continue;
      feature.kind = static_cast<TfFeature::Kind>(list.number);
      if (list.number == 1) read_bytes(value.within(list), feature);
      if (list.number == 2) read_floats(value.within(list), feature);
      if (list.number == 3) read_integers(value.within(list), feature);
    }
  }
  return feature;
}

}  // namespace

std::vector<TfFeature> parse_tf_example(std::span<const std::byte> message, const std::string& name) {
  std::vector<TfFeature> features;
  const std::string wrong = fmt::format("{}: is not a tf.train.Example", name);
  Message example(message, wrong, kHint);
  for (Field field; example.next(field);) {
    if (field.number != 1 || field.wire != Wire::kBytes) example.refuse();
    Message map = example.within(field);
    for (Field entry; map.next(entry);) {
      if (entry.number != 1 || entry.wire != Wire::kBytes) example.refuse();
      features.push_back(read_feature(map.within(entry)));
    }
  }
  return features;
}

}  // namespace convoke::data_prep

#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// The wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding/), for the few
// messages that Convoke reads and writes: TensorFlow's Example and Event, and ONNX's ModelProto. Reading
// copies nothing, so that pictures and weights stay where they are.

namespace convoke::protobuf {

enum class Wire : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// A field of a message.
struct Field {
  std::uint64_t number = 0;
  Wire wire = Wire::kVarint;
  std::uint64_t value = 0;                ///< of kVarint
  std::span<const std::byte> bytes = {};  ///< of the other kinds; refers to the message

  bool is(std::uint64_t wanted, Wire kind) const { return number == wanted && wire == kind; }
  std::int64_t integer() const { return static_cast<std::int64_t>(value); }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
  /// The value of kFixed32 as float, and of kFixed64 as double; 0 for other kinds.
  double number_value() const;
};

/// Reads the fields of a message in the order in which they are stored:
///
///     for (Field field; message.next(field);) ...
class Message {
 public:
  /// `bytes` must outlive the message. `what` says in errors what the bytes should be: "model.onnx: is not an
  /// ONNX model"; it must outlive the message too. `hint`: of these errors.
  Message(std::span<const std::byte> bytes, const std::string& what, const std::string& hint)
      : bytes_(bytes), what_(&what), hint_(&hint) {}

  /// Reads the next field; false at the end. Throws Error if the bytes are not a message.
  bool next(Field& field);
  /// Returns the message in `field` of this one.
  Message within(const Field& field) const { return {field.bytes, *what_, *hint_}; }

  /// True if no bytes are left.
  bool empty() const { return bytes_.empty(); }
  /// Reads a number without a field, as packed lists store them. Throws Error.
  std::uint64_t varint();
  /// Throws the Error of bytes that are not the expected message.
  [[noreturn]] void refuse() const;

 private:
  std::span<const std::byte> take(std::uint64_t count);

  std::span<const std::byte> bytes_;
  const std::string* what_;
  const std::string* hint_;
};

/// Return a field with its key, to be appended to a message. A text is also a nested message, or bytes.
std::string field(std::uint32_t number, double value);
std::string field(std::uint32_t number, float value);
std::string field(std::uint32_t number, std::uint64_t value);
std::string field(std::uint32_t number, std::int64_t value);
std::string field(std::uint32_t number, std::string_view bytes);
/// Returns the beginning of a field of so many bytes, which the caller appends: for bytes too many to copy.
std::string field_header(std::uint32_t number, std::uint64_t bytes);

}  // namespace convoke::protobuf

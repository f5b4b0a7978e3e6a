#include "convoke/core/protobuf.hpp"

#include "convoke/core/error.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::protobuf;

namespace {

const std::string kWhat = "x: is not a message", kHint = "export it again";

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

TEST_CASE("protobuf fields read back as written") {
  const std::string bytes = field(1, std::uint64_t{300}) + field(2, std::string_view("conv")) +
                            field(3, 2.5F) + field(4, -0.125) + field(16, std::int64_t{-1});
  CHECK(bytes.substr(0, 3) == "\x08\xAC\x02");  // the example of the documentation: 300
  Message message(bytes_of(bytes), kWhat, kHint);
  protobuf::Field read;
  REQUIRE((message.next(read) && read.is(1, Wire::kVarint)));
  CHECK(read.value == 300);
  REQUIRE((message.next(read) && read.is(2, Wire::kBytes)));
  CHECK(read.text() == "conv");
  REQUIRE((message.next(read) && read.is(3, Wire::kFixed32)));
  CHECK(read.number_value() == 2.5);
  REQUIRE((message.next(read) && read.is(4, Wire::kFixed64)));
  CHECK(read.number_value() == -0.125);
  REQUIRE((message.next(read) && read.is(16, Wire::kVarint)));
  CHECK(read.integer() == -1);
  CHECK(!message.next(read));
}

TEST_CASE("bytes that are not a protobuf message are refused") {
  const std::array<std::string, 5> wrong{
      std::string("\x08"),  // a number that is cut off
      std::string("\x0A\x05"
                  "abc"),                                               // 5 bytes of which 3 are there
      std::string("\x0B"),                                              // a group, which proto3 does not have
      std::string("\x09\x01\x02"),                                      // a double that is cut off
      std::string("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),  // a number that never ends
  };
  for (const std::string& bytes : wrong) {
    Message message(bytes_of(bytes), kWhat, kHint);
    protobuf::Field read;
    CHECK_THROWS_WITH(message.next(read), kWhat);
  }
}

#include "convoke/core/text_encoding.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;

namespace {

TextEncoding encoding_of(const std::string& text, std::size_t part = 1000) {
  EncodingDetector detector;
  for (std::size_t at = 0; at < text.size(); at += part)
    detector.feed(std::string_view(text).substr(at, part));
  return detector.encoding();
}

}  // namespace

// python3 -c 'print([hex(ord(bytes([b]).decode("cp1252"))) for b in range(0x80, 0xA0) if b not in (0x81,
// 0x8D, 0x8F, 0x90, 0x9D)])'
TEST_CASE("Windows-1252 is decoded as by Python") {
  const std::string bytes =
      "\x80\x82\x83\x84\x85\x86\x87\x88\x89\x8A\x8B\x8C\x8E\x91\x92\x93\x94\x95\x96\x97\x98\x99\x9A\x9B\x9C"
      "\x9E\x9F";
  CHECK(to_utf8(bytes, TextEncoding::kWindows1252) == "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ");
  CHECK(to_utf8("gr\xFCn \xDF", TextEncoding::kWindows1252) == "grün ß");
  CHECK(to_utf8("plain", TextEncoding::kWindows1252) == "plain");
}

TEST_CASE("UTF-16 is decoded, with its pairs") {
  // python3 -c 'print("aé€😀".encode("utf-16-le"))'
  const std::string little("a\0\xe9\0\xac =\xd8\0\xde", 10);
  CHECK(to_utf8(little, TextEncoding::kUtf16le) == "aé€😀");
  std::string big = little;
  for (std::size_t i = 0; i < big.size(); i += 2) std::swap(big[i], big[i + 1]);
  CHECK(to_utf8(big, TextEncoding::kUtf16be) == "aé€😀");
  CHECK(to_utf8(little.substr(0, 8), TextEncoding::kUtf16le) == "aé€\uFFFD");  // half a pair
  CHECK(to_utf8(little.substr(0, 9), TextEncoding::kUtf16le) == "aé€\uFFFD\uFFFD");
}

TEST_CASE("the encoding is found, however the text is cut into parts") {
  for (const std::size_t part : {std::size_t{5}, std::size_t{7}, std::size_t{1000}}) {
    CHECK(encoding_of("plain text, long enough", part) == TextEncoding::kUtf8);
    CHECK(encoding_of("grün, weiß, 😀 und €", part) == TextEncoding::kUtf8);
    CHECK(encoding_of("gr\xFCn, wei\xDF", part) == TextEncoding::kWindows1252);
    CHECK(encoding_of("caf\xE9", part) == TextEncoding::kWindows1252);    // at the end
    CHECK(encoding_of("grün, weiß, \xFF", part) == TextEncoding::kUtf8);  // a damaged byte
    CHECK(encoding_of("\xEF\xBB\xBFx \xFF\xFF", part) == TextEncoding::kUtf8);
    CHECK(encoding_of(std::string("\xFF\xFEx\0y\0", 6), part) == TextEncoding::kUtf16le);
  }
}

TEST_CASE("a text is decoded without its byte order mark; encodings have names") {
  CHECK(decoded_text("\xEF\xBB\xBFx") == "x");
  CHECK(decoded_text("\xFC") == "ü");
  CHECK(decoded_file("\xFC", "utf-8", "a.txt") == "\uFFFD");
  const std::string wide("x\0y\0", 4);
  CHECK(decoded_file(wide, "utf-16le", "a.txt") == "xy");
  CHECK(decoded_file("\xFF\xFE" + wide, "", "a.txt") == "xy");
  CHECK_THROWS_WITH(decoded_file("x\n" + wide, "utf-8", "a.txt"), Contains("a.txt:2: has a byte 0"));
  CHECK_THAT(hint_of([&] { decoded_file(wide, "", "a.txt"); }),
             StartsWith("it looks like utf-16le: store it"));
  for (const std::string& name : text_encodings()) CHECK(name_of(text_encoding_from(name)) == name);
  CHECK_THROWS_WITH(text_encoding_from("latin1"), Contains("unknown encoding \"latin1\""));
}

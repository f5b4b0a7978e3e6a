#include "convoke/core/text.hpp"

#include "support/catch.hpp"

using namespace convoke;

TEST_CASE("UTF-8 characters have a length, and other bytes have length 0") {
  CHECK(utf8_length("a") == 1);
  CHECK(utf8_length("é") == 2);
  CHECK(utf8_length("鳥") == 3);
  CHECK(utf8_length("\xF0\x9F\x90\xA6") == 4);
  CHECK(utf8_length("\xDF") == 0);          // Latin-1
  CHECK(utf8_length("\xC0\xAF") == 0);      // overlong
  CHECK(utf8_length("\xED\xA0\x80") == 0);  // a surrogate
  CHECK(utf8_length("\xE9\xB3") == 0);      // truncated
}

TEST_CASE("a character has its code point") {
  CHECK(code_point("a") == U'a');
  CHECK(code_point("é") == 0xE9);
  CHECK(code_point("鳥 and more") == 0x9CE5);
  CHECK(code_point("\xF0\x9F\x90\xA6") == 0x1F426);
}

TEST_CASE("any bytes become one line of text") {
  CHECK(one_line("a\nb\tc 鳥") == "a b c 鳥");
  CHECK(one_line("\x1B[31m\x7F") == "\xEF\xBF\xBD[31m\xEF\xBF\xBD");
  CHECK(one_line("Stra\xDF"
                 "e") ==
        "Stra\xEF\xBF\xBD"
        "e");
  CHECK(one_line("") == "");
}

TEST_CASE("text is shortened by characters, not by bytes") {
  CHECK(character_count("é鳥a") == 3);
  CHECK(shortened("é鳥ab", 4) == "é鳥ab");
  CHECK(shortened("é鳥abc", 4) == "é鳥a…");
}

TEST_CASE("text that is printed changes nothing on a terminal") {
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(harmless("a\nb\tc é 鳥") == "a\nb\tc é 鳥");
  CHECK(harmless("\x1B]0;title\x07") == bad + "]0;title" + bad);
  CHECK(harmless("\rover\x7F") == bad + "over" + bad);
  CHECK(harmless("\xC2\x9B"
                 "31m\xFF") == bad + "31m" + bad);  // C1 controls are escapes, too
}

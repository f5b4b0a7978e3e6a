#include "convoke/core/text.hpp"

#include <sys/stat.h>

#include "support/catch.hpp"
#include "support/files.hpp"

using namespace convoke;

TEST_CASE("texts are joined") {
  CHECK(join(std::vector<std::string>{"a", "b", "c"}) == "a, b, c");
  CHECK(join(std::vector<std::string>{"a"}, "-") == "a");
  CHECK(join(std::vector<std::string>{}) == "");
}

TEST_CASE("a name that is given twice is found") {
  CHECK(repeated_name(std::vector<std::string>{"b", "a", "c", "a", "b"}) == "a");
  CHECK(repeated_name(std::vector<std::string>{"a", "A"}).empty());
}

TEST_CASE("the nearest name is returned only if it is close") {
  const std::vector<std::string> known{"learning_rate", "epochs", "batch", "micro_batch"};
  CHECK(nearest_name("learning_rat", known) == "learning_rate");
  CHECK(nearest_name("lerning-rate", known) == "learning_rate");
  CHECK(nearest_name("epoch", known) == "epochs");
  CHECK(nearest_name("micro_batch", known) == "micro_batch");
  CHECK(nearest_name("momentum", known) == "");
  CHECK(nearest_name("xy", known) == "");
  CHECK(nearest_name("--outptu", std::vector<std::string>{"--outputs", "--output"}) == "--output");
  CHECK(nearest_name("adamm", std::vector<std::string>{"adam", "adamw"}) == "adam");
  CHECK(nearest_name("epochs", std::vector<std::string>{}) == "");
  CHECK(did_you_mean("epoch", known) == " (did you mean \"epochs\"?)");
  CHECK(did_you_mean("momentum", known) == "");
}

TEST_CASE("durations are written in a suitable unit") {
  CHECK(format_duration(0) == "0 ms");
  CHECK(format_duration(0.85) == "850 ms");
  CHECK(format_duration(0.9996) == "1.0 s");
  CHECK(format_duration(12.34) == "12.3 s");
  CHECK(format_duration(59.97) == "1 min 00 s");
  CHECK(format_duration(245) == "4 min 05 s");
  CHECK(format_duration(3599.7) == "1 h 00 min");
  CHECK(format_duration(7380) == "2 h 03 min");
  CHECK(format_duration(7199) == "2 h 00 min");
}

TEST_CASE("sizes are written in a suitable unit") {
  CHECK(format_bytes(784) == "784 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1024) == "1.0 KiB");
  CHECK(format_bytes(1024 * 1024 - 1) == "1.0 MiB");
  CHECK(format_bytes(47040016) == "44.9 MiB");
  CHECK(format_bytes(std::uint64_t{5} << 50) == "5120.0 TiB");
}

TEST_CASE("numbers are written with a fixed number of digits") {
  CHECK(format_fixed(0.98614, 4) == "0.9861");
  CHECK(format_fixed(-2.5, 0) == "-2");
  CHECK(format_fixed(1e64, 2) == "1e+64");
  CHECK(format_fixed(std::numeric_limits<double>::quiet_NaN(), 2) == "nan");
}

TEST_CASE("counts are written in groups of three") {
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(60000) == "60,000");
  CHECK(format_count(-1234567) == "-1,234,567");
  CHECK(format_count(std::numeric_limits<std::int64_t>::min()) == "-9,223,372,036,854,775,808");
}

TEST_CASE("plurals") {
  CHECK(counted(1, "rank") == "1 rank");
  CHECK(counted(0, "rank") == "0 ranks");
  CHECK(counted(std::size_t{2000}, "core") == "2,000 cores");
  CHECK(plural(1, "core") == "core");
  CHECK(plural(3, "core") == "cores");
  CHECK(plural(3, "epoch") == "epochs");
  CHECK(plural(3, "micro-batch") == "micro-batches");
}

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
  CHECK(harmless("\u202Eback\u2066") == bad + "back" + bad);
  CHECK(harmless("\xC2\x9B"
                 "31m\xFF") == bad + "31m" + bad);  // C1 controls are escapes, too
}

TEST_CASE("a file is read byte by byte; a missing file gives none") {
  const TemporaryFolder folder;
  const std::string text("a\r\n\0b\xff", 6);
  std::ofstream(folder / "file", std::ios::binary) << text;
  CHECK(read_text(folder / "file") == text);
  std::ofstream(folder / "empty").close();
  CHECK(read_text(folder / "empty") == "");
  CHECK_FALSE(read_text(folder / "none"));
  CHECK_FALSE(read_text(folder.path()));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);  // a pipe without a writer
  CHECK_THROWS_WITH(read_text(folder / "pipe"), Contains("pipe: is a named pipe (FIFO), not a file"));
}

TEST_CASE("sizes are read in binary units, and written back exactly") {
  CHECK(parse_bytes("512MiB") == std::uint64_t{512} << 20);
  CHECK(parse_bytes("1.5 GiB") == std::uint64_t{3} << 29);
  CHECK(parse_bytes("4096 B") == 4096U);
  CHECK(parse_bytes("2TiB") == std::uint64_t{2} << 40);
  for (const char* no :
       {"", "MiB", "12", "12MB", "12  MiB", "-1MiB", "0B", "0.5B", "nanMiB", "1e30TiB", "auto"}) {
    INFO(no);
    CHECK_FALSE(parse_bytes(no).has_value());
  }
  for (const std::uint64_t bytes :
       {std::uint64_t{1}, std::uint64_t{1025}, std::uint64_t{3} << 20, std::uint64_t{5} << 50}) {
    CHECK(parse_bytes(exact_bytes(bytes)) == bytes);
  }
  CHECK(exact_bytes(std::uint64_t{256} << 20) == "256MiB");
  CHECK(exact_bytes(1536) == "1536B");
}

TEST_CASE("long lists in messages are cut") {
  CHECK(listing({}).empty());
  CHECK(listing(std::vector<std::string>{"a", "b"}, 2) == "a, b");
  CHECK(listing(std::vector<std::string>{"a", "b", "c"}, 2) == "a, b and 1 more");
  CHECK(listing(std::vector<std::string>(1'000'000, "x")).ends_with("x, x and 999,980 more"));
}

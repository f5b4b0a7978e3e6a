#include "convoke/core/csv.hpp"

#include <sys/stat.h>

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke;

namespace {

using Cells = std::vector<std::vector<std::string>>;

Cells rows_of(CsvReader& reader) {
  Cells rows;
  for (CsvRow row; reader.next(row);) rows.push_back(row.cells);
  return rows;
}

Cells rows_in(const std::string& text, char delimiter = ',') {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.csv", std::ios::binary) << text;
  CsvReader reader(folder / "a.csv", delimiter);
  return rows_of(reader);
}

char delimiter_of(const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.csv", std::ios::binary) << text;
  return CsvReader(folder / "a.csv").delimiter();
}

}  // namespace

TEST_CASE("a CSV is split by RFC 4180") {
  const Cells expected{{"a", "b,c", ""}, {"say \"yes\"", "two\nlines", " d "}};
  for (const char* end : {"\n", "\r\n", "\r"}) {
    const std::string text = std::string("a,\"b,c\",") + end + "\"say \"\"yes\"\"\",\"two\nlines\", d " + end;
    CHECK(rows_in(text) == expected);
    CHECK(rows_in("\xEF\xBB\xBF" + text) == expected);                              // byte order mark
    CHECK(rows_in(text.substr(0, text.find_last_not_of("\r\n") + 1)) == expected);  // no last line end
    CHECK(rows_in(end + text + end + end) == expected);                             // empty lines
  }
  CHECK(rows_in("").empty());
  CHECK(rows_in("\n\n").empty());
  CHECK(rows_in(",") == Cells{{"", ""}});
  CHECK(rows_in("\"\"") == Cells{{""}});
  CHECK(rows_in("a\"b,5\" disk") == Cells{{"a\"b", "5\" disk"}});  // quotes within cells
  CHECK(rows_in("1,2\n3\n4,5,6") == Cells{{"1", "2"}, {"3"}, {"4", "5", "6"}});
}

TEST_CASE("a CSV with the delimiter blank may have any number of them") {
  CHECK(rows_in("  images/1.png   1.0\tmono \nimages/2.png 0.3333 \"poly crystalline\"\n", ' ') ==
        Cells{{"images/1.png", "1.0", "mono"}, {"images/2.png", "0.3333", "poly crystalline"}});
}

TEST_CASE("the delimiter is found") {
  CHECK(delimiter_of("image,level\n1,2\n") == ',');
  CHECK(delimiter_of("image;level\n1,5;2\n1;2,5\n") == ';');
  CHECK(delimiter_of("a b\tc d\n1 2\t3\n") == '\t');
  CHECK(delimiter_of("a\tb\n1\t2\t\n3\t4\t\n") == '\t');        // rows end with one
  CHECK(delimiter_of("a b\tc\nr1\t1\t2\nr2\t3\t4\n") == '\t');  // R's
  CHECK(delimiter_of("a b\tc\n\"two\nlines\"\t3\n") == '\t');
  CHECK(delimiter_of("cell1.png  1.0 mono\ncell2.png 0.3 poly\n") == ' ');
  CHECK(delimiter_of("review;sentiment\n\"a, b; c\";1\nx, y, z;0\n") == ';');
  CHECK(delimiter_of("a,b,c\n1,2,3\n1,2\n") == ',');  // a short row does not change the result
  CHECK(delimiter_of("name\none\n") == ',');
  CHECK(delimiter_of("Review Text\nthe film was lovely\nnever again\na long, dull end\n") == ',');
  CHECK(delimiter_of("size kind\n1 2.5 a\n2 3.5 b\n3 1.5\n") == ' ');         // R's, with a short row
  CHECK(delimiter_of("\"a\",\"b\"\n\"1\",2,\"x\"\n\"2\",3,\"y\"\n") == ',');  // R's write.table
  CHECK(delimiter_of("") == ',');
}

TEST_CASE("a CSV may be UTF-16 or Windows-1252; rows can be read again") {
  const auto check = [](const std::string& text, const CsvFormat& format, const std::string& first) {
    const TemporaryFolder folder;
    std::ofstream(folder / "a.csv", std::ios::binary) << text;
    CsvReader reader(folder / "a.csv", format);
    CsvRow header, row;
    REQUIRE(reader.next(header));
    REQUIRE(reader.next(row));
    CHECK(header.cells == std::vector<std::string>{first, "b"});
    CHECK(row.cells == std::vector<std::string>{"1", "x,y"});
    CHECK(row.line == 2);
    reader.seek(header);
    CHECK(reader.next(row));
    CHECK(row.cells.front() == first);
  };
  const std::string text = "\xE9,b\r\n1,\"x,y\"\n";
  check(text, {.encoding = TextEncoding::kWindows1252}, "\u00E9");
  std::string little, big;
  for (const char c : text) {
    little += c;
    little += '\0';
    big += '\0';
    big += c;
  }
  check("\xFF\xFE" + little, {}, "\u00E9");
  check("\xFE\xFF" + big, {}, "\u00E9");
  check(little, {.encoding = TextEncoding::kUtf16le}, "\u00E9");
}

TEST_CASE("decimal commas do not separate cells") {
  CHECK(delimiter_of("1,5;2,5;a\n3,25;4,5;b\n") == ';');
  CHECK(delimiter_of("1,5\t2,5\ta\n3,25\t4,5\tb\n") == '\t');
  CHECK(delimiter_of("1,5e+03\ta\n-3,25e+02\tb\n") == '\t');
  CHECK(delimiter_of("a|b\n1|2\n") == '|');
  CHECK(delimiter_of("a:b\n1:2\n") == ':');
}

TEST_CASE("rows know their positions and can be read again") {
  const TemporaryFolder folder;
  std::string text = "name,number\r\n\r\n";
  for (int i = 0; i < 20'000; ++i) text += "\"row\n" + std::to_string(i) + "\"," + std::to_string(i) + "\r\n";
  std::ofstream(folder / "a.csv", std::ios::binary) << text;
  CsvReader reader(folder / "a.csv");
  std::vector<CsvRow> rows;
  for (CsvRow row; reader.next(row);) rows.push_back(row);
  REQUIRE(rows.size() == 20'001);
  CHECK(rows[0].line == 1);
  CHECK(rows[1].line == 3);
  CHECK(rows[20'000].line == 3 + 2 * 19'999);
  CHECK(reader.at(rows[1]) == (folder / "a.csv").string() + ":3");
  for (const std::size_t i : {std::size_t{20'000}, std::size_t{1}, std::size_t{9'999}, std::size_t{10'000}}) {
    reader.seek(rows[i]);
    CsvRow row;
    for (std::size_t k = i; k < std::min<std::size_t>(i + 2, rows.size()); ++k) {
      REQUIRE(reader.next(row));
      CHECK(row.cells == rows[k].cells);
      CHECK(row.line == rows[k].line);
    }
  }
}

TEST_CASE("a damaged CSV is refused, with file and line") {
  CHECK_THAT(error_of([] { rows_in("a,b\n1,\"two\n3,4\n"); }),
             Contains("a.csv:2: cell 2 begins with a quote that is not closed"));
  CHECK_THAT(error_of([] { rows_in("a,b\n1,\"two\"three\n"); }),
             Contains("a.csv:2: cell 2 begins with a quote and has text after the closing one"));
  const TemporaryFolder folder;
  CHECK_THAT(error_of([&] { CsvReader(folder / "none.csv"); }),
             Contains("none.csv: cannot be opened: No such file or directory"));
  CHECK_THAT(error_of([&] { CsvReader reader(folder.path()); }), Contains("is a folder"));
}

TEST_CASE("a pipe that is named is read like a file, also back to a row") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::thread writer([&] {
    std::ofstream out(folder / "pipe");
    for (int i = 0; i < 20'000; ++i) out << i << ",text of row " << i << '\n';
  });
  CsvReader reader(folder / "pipe");
  writer.join();
  std::vector<CsvRow> rows;
  for (CsvRow row; reader.next(row);) rows.push_back(row);
  REQUIRE(rows.size() == 20'000);
  CsvRow again;
  reader.seek(rows[3]);
  CHECK(reader.next(again));
  CHECK(again.cells == std::vector<std::string>{"3", "text of row 3"});
  reader.seek(rows.back());
  CHECK(reader.next(again));
  CHECK(again.cells[0] == "19999");
  CHECK_FALSE(reader.next(again));
}

TEST_CASE("cells with special characters are written in quotes") {
  CHECK(csv_line(std::vector<std::string>{"a", "", "1.5"}) == "a,,1.5");
  CHECK(csv_line(std::vector<std::string>{"a,b", "say \"no\"", "two\nlines"}) ==
        "\"a,b\",\"say \"\"no\"\"\",\"two\nlines\"");
  CHECK(csv_line({}) == "");
}

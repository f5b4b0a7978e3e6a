// Tables as people have them, against what pandas reads when it is told how: files/make_csvs.py.
#include "convoke/data_prep/sources/csv_reading.hpp"

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "convoke/data_prep/sources/source_table.hpp"
#include "csv_file.hpp"
#include "source_values.hpp"
#include "support/catch.hpp"
#include "support/source_path.hpp"

using namespace convoke::data_prep;
using Json = nlohmann::json;

namespace {

std::string bytes_from(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::unique_ptr<Source> fitted(const Csv& csv, SourceOptions options = {}) {
  options.table.scale = "none";
  auto source = csv.open(options);
  fit_all(*source);
  return source;
}

std::vector<std::string> columns_of(const Source& source) {
  std::vector<std::string> names;
  const Json preparation = Json::parse(source.format().preparation);
  for (const Json& column : preparation.at("columns")) names.push_back(column["name"]);
  return names;
}

/// Returns what a source was taken for, or one aspect of it.
std::string taken(const Source& source, const std::string& what) {
  for (const Assumption& assumption : source.catalog().assumptions) {
    if (assumption.what == what) return to_text(std::span(&assumption, 1));
  }
  return {};
}

}  // namespace

TEST_CASE("tables are read as pandas reads them when it is told how") {
  std::ifstream file(source_path("test/data_prep/files/csvs.json"));
  const Json cases = Json::parse(file);
  for (const Json& expected : cases) {
    INFO(expected["name"].get<std::string>());
    const Csv csv(bytes_from(expected["hex"]));
    std::unique_ptr<Source> source;
    REQUIRE(error_of([&] { source = fitted(csv); }) == "");
    INFO(to_text(source->catalog().assumptions));
    CHECK(columns_of(*source) == expected["columns"].get<std::vector<std::string>>());
    CHECK(faults_of(*source).empty());
    const auto& classes = expected["classes"];
    const auto& features = expected["features"];
    REQUIRE(source->catalog().items.size() == classes.size());
    REQUIRE(static_cast<std::size_t>(source->format().shape.elements()) == features[0].size());
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const auto label = static_cast<std::size_t>(source->catalog().items[i].label);
      const auto& names = source->catalog().class_names;
      CHECK((names.empty() ? std::to_string(label) : names[label]) == classes[i].get<std::string>());
      const std::vector<float> values = values_of<float>(*source, i);
      for (std::size_t f = 0; f < values.size(); ++f)
        CHECK(values[f] == Approx(features[i][f].get<double>()).margin(1e-12));
    }
  }
}

TEST_CASE("a first row is a header if its cells differ from those below") {
  const auto has_header = [](const std::string& text, const std::string& option = {}) {
    return examine_csv(Csv(text).file, {.header = option}).header.written;
  };
  CHECK(has_header("id_code,diagnosis\n"));
  CHECK_FALSE(has_header("images/cell0001.png,1.0,mono\n"));
  CHECK_FALSE(has_header("cell0001.png,mono\ncell0002.png,poly\n"));
  CHECK(has_header("a,\n1,x\n2,x\n"));
  CHECK(has_header("a,a\n1,2\n3,4\n"));
  CHECK_FALSE(has_header("1,2,3\n4,5,6\n7,8,9\n"));  // rises, as all rows do
  CHECK_FALSE(has_header("5.1,3.5,setosa\n4.9,3.0,setosa\n4.7,3.2,virginica\n"));
  CHECK_FALSE(has_header("?,3.5,setosa\n4.9,3.0,setosa\n4.7,3.2,virginica\n"));
  CHECK_FALSE(has_header("a good film,positive\na bad film,negative\nfine,positive\nnot fine,negative\n"));
  CHECK(has_header("x,kind\n1,a\n", "yes"));
  CHECK_FALSE(has_header("x,kind\n1,a\n", "no"));
  CHECK_THAT(error_of([&] { has_header("x,kind\n1,a\n", "maybe"); }), Contains("unknown value of --header"));
}

TEST_CASE("what a table was taken for is said") {
  const auto source = fitted(Csv(",size,color,species\n0,1,red,a\n1,2,red,b\n2,4,blue,a\n3,1,blue,b\n"));
  CHECK_THAT(taken(*source, "header"), Contains("line 1"));
  CHECK_THAT(taken(*source, "separator"), Contains("\",\""));
  CHECK_THAT(taken(*source, "encoding"), Contains("utf-8"));
  CHECK_THAT(taken(*source, "labels"), Contains("column \"species\": by its name (--label-column)"));
  CHECK_THAT(taken(*source, "features"), Contains("size"));
  CHECK_THAT(taken(*source, "one-hot"), Contains("\"color\" (2 values)"));
  CHECK_THAT(taken(*source, "dropped"), Contains("\"column_1\", which numbers the rows"));
}

TEST_CASE("a doubtful reading is a warning that names an option") {
  // Both columns may be thousands or decimals, and nothing else in the file tells.
  const Csv prices("price;kind\n4,000;a\n6,600;b\n7,200;a\n8,100;b\n");
  const auto decimals = fitted(prices);
  CHECK(values_of<float>(*decimals, 0)[0] == 4);
  CHECK_THAT(taken(*decimals, "numbers"), Contains("warning: column \"price\"") && Contains("--decimal"));
  const auto thousands = fitted(prices, {.reading = {.decimal = "point"}});
  CHECK(values_of<float>(*thousands, 0)[0] == 4000);
  const Csv points("size;kind\n9.420;a\n3.888;b\n5.105;a\n");
  CHECK_THAT(taken(*fitted(points), "numbers"),
             Contains("warning: column \"size\"") && Contains("\"3.888\" is 3888") && Contains("--decimal"));
  CHECK(taken(*fitted(Csv("size,kind\n9.420,a\n3.888,b\n5.105,a\n")), "numbers").empty());
  // A number with an exponent has no separators of thousands.
  const Csv scientific("size;kind\n9.420e+01;a\n3.888e+02;b\n5.105e+01;a\n");
  CHECK(values_of<float>(*fitted(scientific), 0)[0] == 94.2F);
  const auto dates = fitted(Csv("day,kind\n2020-01-05,a\n2020-02-01,b\n2020-01-05,a\n2020-02-01,b\n"));
  CHECK_THAT(taken(*dates, "categories"), Contains("warning: column \"day\""));
  const auto labels = fitted(Csv("target,size,class\n1,2,a\n2,1,b\n3,3,a\n1,5,b\n"));
  CHECK_THAT(taken(*labels, "labels"), Contains("warning: column \"class\": by its name; not \"target\""));
}

TEST_CASE("texts without a header are found by their words; a title is skipped") {
  std::string reviews, table = "Measurements in 2020\n\nlength,width,kind\n";
  for (int i = 0; i < 12; ++i) {
    const std::string n = std::to_string(i);
    reviews += (i % 3 == 0 ? "spam," : "ham,") + std::string("this is text number ") + n + "\n";
    table += n + ".5," + std::to_string(3 * i % 7) + (i % 2 == 0 ? ",a\n" : ",b\n");
  }
  const auto texts = Csv(reviews).open();
  CHECK(texts->catalog().class_names == Names{"ham", "spam"});
  CHECK_THAT(taken(*texts, "texts"), Contains("column \"column_2\": its cells have several words"));
  const std::string numbers =
      "\"- 1 043 \";x\n\"- 1 044 \";y\n\"- 1 045 \";x\n\"- 1 046 \";y\n\"2 047 000 \";x\n";
  CHECK(fitted(Csv(numbers))->format().shape == convoke::Shape{1});
  const auto titled = fitted(Csv(table));
  CHECK(columns_of(*titled) == Names{"length", "width"});
  CHECK_THAT(taken(*titled, "title"), Contains("warning: 2 lines"));
  CHECK(titled->catalog().items[0].name == "line 4");
  const std::string commas =
      "My title\n\na\tb\tc\n1,5\t2,5\tx\n\n1,6\t2,5\ty\n1,7\t2,5\tx\n1,8\t2,5\ty\n1,9\t2,5\tx\n";
  CHECK(columns_of(*fitted(Csv(commas))) == Names{"a", "b"});
}

TEST_CASE("texts that begin with # or have commas are no comments and no title") {
  const auto skipped = [](const std::string& text, const std::string& header) {
    return examine_csv(Csv(text).file, {.header = header}).format.skipped_lines;
  };
  CHECK(skipped("#good day,x\n#bad, really,x\nfine,y\n", "no") == 0);
  CHECK(skipped("# made by R\n#good day,x\nfine,y\n", "no") == 1);
  CHECK(skipped("# made by R\nday,kind\nfine,y\n", "yes") == 1);
  CHECK(skipped("# made by numpy\n1 2 0\n3 4 1\n", "no") == 1);
  CHECK_THAT(to_text(examine_csv(Csv("#good day\nfine\n").file, {.header = "no"}).assumptions),
             Contains("warning: 1 line at the beginning: they begin with #"));
  for (const char* table :
       {"# made by numpy\n1 2 0\n3 4 1\n", "#x y z\n1 2 0\n3 4 1\n", "# made by R\na 1\nb 2\n"}) {
    CHECK_THAT(to_text(examine_csv(Csv(table).file, {.header = "no"}).assumptions), !Contains("warning"));
  }
  CHECK_THAT(to_text(examine_csv(Csv("#ff0000 1\nred 2\nblue 3\n").file, {.header = "no"}).assumptions),
             Contains("warning: 1 line at the beginning"));
  std::string texts = "text\n";
  for (int i = 0; i < 6; ++i) texts += "\"the film, great, end\"\n";
  CHECK(skipped(texts, "") == 0);
  const ReadingOptions one_column{.separator = std::string(1, kOneColumn)};
  CHECK(examine_csv(Csv("text\n\"a\tb\nc\"\nd\n").file, one_column).format.quoting == convoke::Quoting::kCsv);
}

TEST_CASE("the label of a table without names is the column of categories if the last cannot be it") {
  std::string rows;
  for (int i = 0; i < 60; ++i) {
    rows += std::to_string(840'000 + 37 * i) + (i % 2 == 0 ? ",M," : ",B,") + std::to_string(i * 0.37) + "\n";
  }
  CHECK_THAT(taken(*Csv(rows).open(), "labels"),
             Contains("column \"column_2\": the only column of categories"));
}

TEST_CASE("per cent and amounts of money are numbers; a cell that is none is named") {
  const auto source = fitted(Csv("share;price;kind\n12 %;$1,200.50;a\n7%;$ 3;b\n50 %;-$4;a\n1 %;($5);b\n"));
  CHECK(values_of<float>(*source, 0)[0] == Approx(0.12));
  CHECK(values_of<float>(*source, 0)[1] == Approx(1200.5));
  CHECK(values_of<float>(*source, 2)[1] == -4);
  CHECK(values_of<float>(*source, 3)[1] == -5);
  const auto bad = Csv("v,u,label\n0,0.5,a\n1,1.5,b\n2,2.5,a\n1e400,3.5,b\n5,six,a\n6,0.1,b\n").open();
  CHECK(faults_of(*bad) == Names{"line 5: column \"v\": \"1e400\" is not a finite number",
                                 "line 6: column \"u\": \"six\" is not a number"});
}

TEST_CASE("numbers name categories if the options say so") {
  const Csv csv("code,label\n3,a\n5,b\n3,a\n7,b\n");
  CHECK(fitted(csv)->format().shape == convoke::Shape{1});
  CHECK(fitted(csv, {.columns = {.categories = {"code"}}})->format().shape == convoke::Shape{3});
}

TEST_CASE("in a file with tabs a quote is text unless it encloses a whole cell") {
  const std::string reviews =
      "review\tsentiment\n\"Brilliant\" is what they say\tnegative\n\"I slept well.\tnegative\n"
      "\"A whole cell\"\tpositive\nthe 5\" disk\tpositive\n";
  TemporaryFolder folder;
  const auto file = folder / "reviews.tsv";
  std::ofstream(file, std::ios::binary) << reviews;
  const auto source = open_source(file);
  CHECK(source->catalog().items.size() == 4);
  CHECK_THAT(taken(*source, "quoting"), Contains("quotes are text unless"));
  auto reader = examine_csv(file, {}).rows();
  std::vector<std::string> texts;
  for (convoke::CsvRow row; reader.next(row);) texts.push_back(row.cells[0]);
  CHECK(texts == Names{"\"Brilliant\" is what they say", "\"I slept well.", "A whole cell", "the 5\" disk"});
  // A file that pandas wrote with tabs follows RFC 4180.
  const Csv written("review\tlabel\n\"two\nlines, \"\"quoted\"\"\"\t1\nplain\t0\n");
  auto rows = examine_csv(written.file, {}).rows();
  convoke::CsvRow row;
  rows.next(row);
  CHECK(row.cells[0] == "two\nlines, \"quoted\"");
}

TEST_CASE("a quote that swallows rows is named where it begins") {
  std::string text = "review,note,sentiment\n\"fine\",a,1\n\"open,b,0\n";
  for (int i = 0; i < 8; ++i) text += "plain,c," + std::to_string(i % 2) + "\n";
  const Csv closed(text + "late\",d,1\nmore,e,0\n");
  CHECK_THAT(closed.error(),
             Contains("table.csv:3: a cell begins with a quote that is closed only in line 12"));
  CHECK(closed.open({.reading = {.quoting = "csv"}})->catalog().items.size() == 3);
  CHECK(closed.open({.reading = {.quoting = "none"}})->catalog().items.size() == 12);
  CHECK_THAT(Csv(text).error(), Contains("table.csv:3: cell 1 begins with a quote that is not closed"));
}

TEST_CASE("labels that are equal as numbers are one class; missing ones have a fault") {
  const auto source = Csv("x,label\n1,1\n2,1.0\n3,2\n4,01\n5,2.5\n6,NaN\n7,NA\n8,\n9,2\n").open();
  CHECK(source->catalog().class_names == Names{"1", "2", "2.5"});
  CHECK(labels_of(*source) == Labels{0, 0, 1, 0, 2, 0, 0, 0, 1});
  CHECK(faults_of(*source) ==
        Names{"line 7: has no label: \"NaN\"", "line 8: has no label: \"NA\"", "line 9: has no label"});
  CHECK_THAT(taken(*source, "one class"), Contains("1 = 01 = 1.0"));
  CHECK(Csv("x,label\n1,True\n2,TRUE\n3,false\n").open()->catalog().classes == 2);
  const Csv large("x,label\n1,9007199254740992\n2,9007199254740993\n");  // equal as doubles
  CHECK(large.open()->catalog().classes == 2);
  CHECK_THAT(taken(*Csv("x,label\n1,Cat\n2,cat\n").open(), "two classes"), Contains("differ only in case"));
  CHECK_THAT(Csv("x,y\n1,1\n2,1.0\n").error(), Contains("column \"y\": has one class, \"1\""));
}

TEST_CASE("a missing group is none, and a missing split the fault of its row") {
  const auto source = Csv("x,who,split,label\n1,NA,train,a\n2,?,test,b\n3,p,,a\n4,p,NA,b\n")
                          .open({.columns = {.group = "who"}});
  std::vector<std::string> groups;
  for (const Item& item : source->catalog().items) groups.push_back(item.group);
  CHECK(groups == Names{"", "", "p", "p"});
  CHECK(faults_of(*source) == Names{"line 4: has no split", "line 5: has no split"});
}

TEST_CASE("files that are no tables are refused with the reason") {
  CHECK_THAT(Csv(std::string("a,b\n1,2\n3\0,4\n", 13)).error(), Contains("table.csv:3: has a byte 0"));
  const Csv utf16(std::string("a\0,\0b\0\n\0\61\0,\0\62\0\n\0", 16));
  CHECK_THAT(utf16.error(), Contains("has a byte 0"));
  CHECK(examine_csv(utf16.file, {.encoding = "utf-16le"}).header.names == Names{"a", "b"});
  CHECK_THAT(Csv("one\ntwo\n").error(), Contains("the first row has only one cell, \"one\""));
  CHECK(hint_of([] { Csv("a,b\n1,2\n").open({.reading = {.separator = ";"}}); }) ==
        "leave out --separator, and it is found");
  TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe.csv").c_str(), 0600) == 0);  // a pipe without a writer
  CHECK_THAT(error_of([&] { examine_csv(folder / "pipe.csv", {}); }),
             Contains("pipe.csv") && Contains("pipe"));
  std::ofstream(folder / "a.csv.gz") << "x";
  CHECK_THAT(error_of([&] { open_source(folder / "a.csv.gz"); }), Contains("is a compressed table"));
  for (const char* name : {"leaves.zip", "table.tsv.xz", "digits.npy.gz"}) {
    std::ofstream(folder / name) << "PK";
    CHECK_THAT(error_of([&] { open_source(folder / name); }), Contains("is a packed file"));
    CHECK_THAT(hint_of([&] { open_source(folder / name); }), Contains("unpack it"));
  }
}

#include "convoke/data_prep/sources/source_table.hpp"

#include "csv_file.hpp"
#include "source_values.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"

using namespace convoke::data_prep;

namespace {

constexpr const char* kTraceHeader = "time,operation,offset,size,file,rank,label\n";

// Requests of `size` bytes, `step` bytes apart.
std::string requests(int count, int size, int step, const std::string& label,
                     const char* header = kTraceHeader) {
  std::string text = header;
  for (int i = 0; i < count; ++i)
    text +=
        fmt::format("{},{},{},{},data,0,{}\n", 0.1 * i, i % 2 == 0 ? "read" : "write", i * step, size, label);
  return text;
}

SourceOptions window_of(const std::string& length) {
  return {.table = {.scale = "none"}, .traces = {.window = length}};
}

}  // namespace

TEST_CASE("a CSV of requests becomes windows of five features") {
  const Csv csv(requests(8, 10, 10, "even") + requests(8, 10, 110, "wide", ""));
  CHECK(is_io_traces(csv.file));
  const auto source = csv.open(window_of("4"));
  const Catalog& catalog = source->catalog();
  CHECK(catalog.class_names == Names{"even", "wide"});
  REQUIRE(catalog.items.size() == 4);
  CHECK(catalog.items[2].name == "table.csv, window 3");
  CHECK(labels_of(*source) == Labels{0, 0, 1, 1});
  CHECK(catalog.notes.back() == "16 requests in 4 windows of 4 requests");
  fit_all(*source);
  CHECK(values_of<float>(*source, 0) == std::vector<float>{10, 10, 10, 1, 0});
  CHECK(values_of<float>(*source, 3) == std::vector<float>{10, 10, 10, 1, 100});
  CHECK_THAT(source->format().preparation,
             Contains("\"kind\":\"table\"") && Contains("\"window\":\"4 requests\""));
}

TEST_CASE("a CSV of requests is read with the options of reading") {
  std::string text = requests(8, 10, 10, "even") + requests(8, 10, 110, "wide", "");
  std::ranges::replace(text, ',', '^');
  SourceOptions options = window_of("4");
  options.reading.separator = "^";
  CHECK(Csv(text).open(options)->catalog().items.size() == 4);
}

TEST_CASE("I/O traces keep the features that an option names, in its order") {
  const Csv csv(requests(4, 10, 110, "even") + requests(4, 10, 110, "wide", ""));
  SourceOptions options = window_of("4");
  options.columns.features = {"average_distance", "min_request_size"};
  const auto source = open_source(csv.file, options, "io-traces");
  fit_all(*source);
  CHECK(values_of<float>(*source, 0) == std::vector<float>{100, 10});
  options.columns.features = {"min_reqest_size"};
  CHECK_THAT(csv.error(options, "io-traces"),
             Contains("I/O traces have no \"min_reqest_size\" (did you mean \"min_request_size\"?)"));
}

TEST_CASE("folders name the classes of traces; the windows of a file are a group") {
  const TemporaryFolder folder;
  write_file(folder / "even/run1.csv", requests(8, 10, 10, "ignored"));
  write_file(folder / "wide/log.txt", bytes_of(source_path("test/data_prep/files/darshan/requests.txt")));
  write_file(folder / "wide/total.txt", bytes_of(source_path("test/data_prep/files/darshan/counters.txt")));
  write_file(folder / "wide/short.csv", requests(1, 10, 10, "x"));
  CHECK(is_io_traces(folder.path()));
  const auto source = open_source(folder.path(), window_of("8"));
  const Catalog& catalog = source->catalog();
  CHECK(catalog.class_names == Names{"even", "wide"});
  CHECK(labels_of(*source) == Labels{0, 1, 1, 1, 1, 1});  // 8, 8, 8 and 5 requests, and a job's counters
  SourceOptions reordered = window_of("8");
  reordered.class_names = {"wide", "even"};
  CHECK(labels_of(*open_source(folder.path(), reordered)) == Labels{1, 0, 0, 0, 0, 0});
  CHECK(catalog.items[0].group == "even/run1.csv");
  CHECK(catalog.items[3].group == "wide/log.txt");
  CHECK(catalog.items[5].group == "wide/total.txt");
  CHECK(catalog.notes.front() == "wide/short.csv is left out: it has too few requests");
}

TEST_CASE("a column gives the run; splits come from folders") {
  SourceOptions options = window_of("4");
  options.columns.group = "rank";
  const Csv csv(requests(8, 10, 10, "even") + requests(8, 10, 110, "wide", ""));
  CHECK(csv.open(options)->catalog().items[0].group == "0");

  const TemporaryFolder folder;
  for (const char* const split : {"train", "test"}) {
    write_file(folder / split / "even/1.csv", requests(4, 10, 10, "x"));
    write_file(folder / split / "wide/1.csv", requests(4, 10, 110, "x"));
  }
  CHECK(splits_of(*open_source(folder.path(), window_of("4"))) == Names{"test", "test", "train", "train"});
}

TEST_CASE("damaged traces are refused by file and line") {
  const auto error = [](const std::string& row) {
    return Csv(requests(2, 10, 10, "even") + row + "\n").error(window_of("2"));
  };
  CHECK_THAT(error("0,seek,0,1,data,0,even"),
             Contains("table.csv:4: the operation is \"seek\", not read or write"));
  CHECK_THAT(error("now,read,0,1,data,0,even"),
             Contains("table.csv:4: column \"time\": \"now\" is not a number"));
  CHECK_THAT(error("0,read,-5,1,data,0,even"),
             Contains("column \"offset\": \"-5\" is not a number of bytes"));
  CHECK_THAT(error("0,read,0,1.5,data,0,even"),
             Contains("column \"size\": \"1.5\" is not a number of bytes"));
  CHECK_THAT(error("0,read,0,1,,0,even"), Contains("table.csv:4: has no file"));
  CHECK_THAT(error("0,read,0,1,data,0,"), Contains("table.csv:4: has no label"));
  CHECK_THAT(error("0,read,0,1,data,0,NaN"), Contains("table.csv:4: has no label"));
  CHECK_THAT(error("0,read,0"), Contains("table.csv:4: has 3 cells, but the first row has 7"));
  CHECK_THAT(Csv("time,size,label\n1,2,x\n").error(window_of("2"), "io-traces"),
             Contains("is neither a CSV of requests nor a dump of a Darshan log"));

  const TemporaryFolder folder;
  write_file(folder / "even/1.csv", requests(4, 10, 10, "x"));
  CHECK_THAT(error_in(folder.path()), Contains("has traces of 1 classes"));
  write_file(folder / "wide/1.csv", requests(4, 10, 10, "x"));
  write_file(folder / "wide/2.txt", "notes\n");
  CHECK_THAT(error_in(folder.path(), window_of("2")), Contains("2.txt: is neither a CSV of requests nor"));
}

#include "convoke/data_prep/sources/source_table.hpp"

#include "convoke/data_prep/prepare.hpp"
#include "convoke/data_prep/sources/csv_catalog.hpp"
#include "csv_file.hpp"
#include "source_values.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using convoke::Shape;
using namespace convoke::data_prep;

namespace {

constexpr const char* kFlowers =
    "length,color,width,species\n"
    "1,red,10,rose\n"
    "3,white,,lily\n"
    "5,red,30,rose\n";

}  // namespace

TEST_CASE("a CSV of numbers and categories is a table") {
  const Csv csv(kFlowers);
  CHECK(is_table_csv(csv.file));
  const auto source = csv.open();
  const Catalog& catalog = source->catalog();
  CHECK(catalog.class_names == std::vector<std::string>{"lily", "rose"});
  REQUIRE(catalog.items.size() == 3);
  CHECK(catalog.items[0].label == 1);
  CHECK(catalog.items[0].name == "line 2");
  REQUIRE(catalog.notes.size() == 1);
  CHECK_THAT(catalog.notes[0], Contains("missing cells: 1 in \"width\""));

  fit_all(*source);
  CHECK(source->format().shape == Shape{4});
  CHECK(source->format().type == convoke::data::SampleType::kFloat32);
  CHECK(values_of<float>(*source, 1)[0] == Approx(0).margin(1e-7));
  CHECK(values_of<float>(*source, 0)[0] == Approx(-1.2247449));
  CHECK(values_of<float>(*source, 0)[1] == 1);  // red
  CHECK(values_of<float>(*source, 1)[1] == 0);
  CHECK(values_of<float>(*source, 1)[2] == 1);  // white
  CHECK(values_of<float>(*source, 1)[3] == 0);  // the mean
}

TEST_CASE("columns are named, or found; a file need not have a header") {
  const auto named = Csv(kFlowers).open({.columns = {.label = "color", .features = {"width", "length"}}});
  fit_all(*named);
  CHECK(named->format().shape == Shape{2});
  CHECK(values_of<float>(*named, 0)[1] == Approx(-1.2247449));
  const auto by_position = Csv(kFlowers).open({.columns = {.label = "2", .features = {"width", "1"}}});
  CHECK(by_position->catalog().class_names == named->catalog().class_names);
  fit_all(*by_position);
  CHECK(values_of<float>(*by_position, 0) == values_of<float>(*named, 0));
  const Csv plain("5.1;3.5;Iris-setosa\n4.9;3.0;Iris-virginica\n");
  const auto source = plain.open();
  CHECK(source->catalog().items.size() == 2);
  CHECK(source->catalog().items[0].name == "line 1");
  CHECK(source->catalog().class_names[1] == "Iris-virginica");
  fit_all(*source);
  CHECK_THAT(source->format().preparation, Contains("column_1"));
  CHECK_THAT(plain.error({.columns = {.label = "colum_2"}}),
             Contains("has no column \"colum_2\" (did you mean \"column_2\"?)"));

  // Different numbers are an index only in front.
  const auto gap = Csv(",x,,label\n7,1,30,a\n5,2,10,b\n6,3,20,a\n").open();
  fit_all(*gap);
  CHECK(gap->format().shape == Shape{2});

  // A column `set` without splits is a feature; one with splits is not.
  const auto set = Csv("set,label\n3,a\n4,b\n").open();
  fit_all(*set);
  CHECK(set->format().shape == Shape{1});
  const auto split = Csv("x,split,label\n3,train,a\n4,test,b\n").open();
  CHECK(split->catalog().items[1].split == "test");
  const std::size_t training[] = {0};
  split->fit(training);
  CHECK(split->format().shape == Shape{1});
}

TEST_CASE("rows that cannot be samples have a fault; constant columns a note") {
  const Csv csv("a,b,label\n1,2,0\n1,2\n1,2,\n1,inf,1\n1,3,1\n");
  const auto source = csv.open();
  std::vector<std::string> faults;
  for (const Item& item : source->catalog().items) faults.push_back(item.fault);
  CHECK(faults == std::vector<std::string>{"", "has 2 cells, but the first row has 3", "has no label",
                                           "column \"b\": \"inf\" is not a finite number", ""});
  fit_all(*source);
  REQUIRE(source->catalog().notes.size() == 1);
  CHECK(source->catalog().notes[0] == "column \"a\" is the same in all training rows");
}

TEST_CASE("a table that changes while it is read or prepared is refused") {
  std::string rows = "size,label\n";
  for (int i = 0; i < 20'000; ++i) rows += i % 2 == 0 ? "12345,a\n" : "12345,b\n";  // more than is read ahead
  const Csv csv(rows);
  const auto source = csv.open();
  write_file(csv.file, "size,label\n1,a\n");
  CHECK_THAT(error_of([&] { fit_all(*source); }), Contains(": has changed while it was read"));
  write_file(csv.file, kFlowers);
  PrepareOptions options{csv.file, csv.folder / "x.h5"};
  options.progress = [&](std::int64_t, std::int64_t) { write_file(csv.file, std::string(kFlowers) + "\n"); };
  CHECK_THAT(error_of([&] { prepare(options); }), Contains("table.csv: has changed while it was prepared"));
}

TEST_CASE("tables that are not a dataset are refused") {
  CHECK_THAT(Csv("label,split\na,train\nb,test\n").error(), Contains("there is no column left for features"));
  CHECK_THAT(Csv(kFlowers).error({.columns = {.features = {"lenght"}}}),
             Contains("has no column \"lenght\" (did you mean \"length\"?)"));
  CHECK_THAT(Csv(kFlowers).error({.columns = {.features = {"species"}}}), Contains("both label and feature"));
  CHECK_THAT(Csv(kFlowers).error({.table = {.scale = "log"}}), Contains("unknown scale \"log\""));
  CHECK_THAT(Csv("a,b\n1,x\n2,x\n").error(), Contains("has one class, \"x\""));
  CHECK_THAT(Csv("a,b\n").error(), Contains("has no rows"));
  CHECK(Csv(kFlowers).error({.class_names = {"lily", "rose", "lily"}}) ==
        "--class-names: \"lily\" is given twice");
  CHECK(Csv(kFlowers).error({.columns = {.features = {"length", "length"}}}) ==
        "--features: \"length\" is given twice");
  std::string names = "name,age,label\n";
  for (int i = 0; i < 30; ++i) names += "n" + std::to_string(i) + ",3," + std::to_string(i % 2) + "\n";
  const auto source = Csv(names).open();
  CHECK_THAT(error_of([&] { fit_all(*source); }),
             Contains("column \"name\": has 30 different values in 30 rows"));
}

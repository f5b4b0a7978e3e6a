#include "convoke/data_prep/table/table_preparation.hpp"

#include <nlohmann/json.hpp>

#include "convoke/data_prep/table/yeo_johnson.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/source_path.hpp"

using namespace convoke::data_prep;
using Cells = std::vector<std::string>;

namespace {

TablePreparation fitted(const std::string& scale, const std::vector<RawColumn>& columns,
                        const std::vector<Cells>& rows) {
  auto next = rows.begin();
  return TablePreparation::fit({.scale = scale}, columns, [&](Cells& cells) {
    if (next == rows.end()) return false;
    cells = *next++;
    return true;
  });
}

std::vector<float> features(const TablePreparation& table, const Cells& cells) {
  std::vector<float> out(table.width(), -7);
  table.encode(cells, out);
  return out;
}

/// The values that files/make_table.py computed.
nlohmann::json golden() {
  std::ifstream file(source_path("test/data_prep/files/table.json"));
  return nlohmann::json::parse(file);
}

}  // namespace

TEST_CASE("columns become scikit-learn's features") {
  const nlohmann::json expected = golden();
  const auto rows = expected.at("cells").get<std::vector<Cells>>();
  const std::vector<Cells> training(rows.begin(), rows.begin() + expected.at("train").get<int>());
  const std::size_t numbers = rows.front().size() - 1;
  std::vector<RawColumn> columns(numbers + 1, {"x", true});
  columns.back() = {"color", false};
  for (const char* scale : {"standard", "min-max", "yeo-johnson"}) {
    INFO(scale);
    const TablePreparation table = fitted(scale, columns, training);
    REQUIRE(table.width() == numbers + 3);
    for (std::size_t c = 0; c < numbers; ++c) {
      CHECK(table.columns()[c].mean == Approx(expected.at("mean").at(c).get<double>()));
      CHECK(table.columns()[c].constant == (c == 4));
      // The last column spans a millionth of its size: all lambdas are about equally likely.
      if (scale == std::string("yeo-johnson") && c != 5) {
        CHECK(*table.columns()[c].lambda == Approx(expected.at("lambda").at(c).get<double>()).margin(1e-5));
      }
    }
    CHECK(table.columns().back().categories == expected.at("categories").get<Cells>());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::vector<float> row = features(table, rows[i]);
      for (std::size_t c = 0; c < numbers; ++c) {
        CHECK(row[c] == Approx(expected.at(scale).at(i).at(c).get<double>()).margin(c == 5 ? 1e-3 : 2e-5));
      }
      for (std::size_t k = 0; k < 3; ++k) {
        CHECK(row[numbers + k] == expected.at("one-hot").at(i).at(k).get<float>());
      }
    }
  }
}

TEST_CASE("numbers may stay unscaled") {
  const TablePreparation table = fitted("none", {{"a", true}}, {{"2"}, {" 4 "}, {"NA"}});
  CHECK(features(table, {"5.5"}) == std::vector<float>{5.5F});
  CHECK(features(table, {"?"}) == std::vector<float>{3});
}

TEST_CASE("a constant column becomes 0, not a division by 0") {
  for (const char* scale : {"standard", "min-max", "yeo-johnson"}) {
    const TablePreparation table = fitted(scale, {{"a", true}}, {{"0.1"}, {"0.1"}, {"0.1"}});
    CHECK(table.columns()[0].constant);
    CHECK(features(table, {"0.1"}) == std::vector<float>{0});
    CHECK(features(table, {"1.1"})[0] == Approx(1));
  }
}

TEST_CASE("a preparation of tables is the same after JSON") {
  const std::vector<RawColumn> columns{{"size", true}, {"kind", false}};
  const TablePreparation before =
      fitted("yeo-johnson", columns, {{"1", "b"}, {"2.5", "a"}, {"40", "b"}, {"", ""}});
  const TablePreparation after = TablePreparation::from_json(before.to_json(), "model.h5");
  CHECK_THAT(before.to_json(),
             Catch::Matchers::StartsWith(R"({"kind":"table","columns":[{"name":"size","lambda":)"));
  CHECK_THAT(before.to_json(), Contains(R"({"name":"kind","categories":["a","b"],"missing":"b"})"));
  CHECK(after.to_json() == before.to_json());
  CHECK(features(after, {"7", "a"}) == features(before, {"7", "a"}));
  CHECK(features(after, {"", ""})[2] == 1);
}

TEST_CASE("a category may be written in several ways") {
  const std::vector<RawColumn> columns{{"zone", false}, {"flag", false}};
  const TablePreparation before =
      fitted("none", columns, {{"2.0", "True"}, {"1.0", "True"}, {"", "FALSE"}, {"2", "TRUE"}});
  const TablePreparation table = TablePreparation::from_json(before.to_json(), "model.h5");
  CHECK(table.columns()[0].categories == Cells{"1.0", "2"});
  CHECK(table.columns()[1].categories == Cells{"FALSE", "TRUE"});
  for (const TablePreparation* each : {&before, &table}) {
    CHECK(features(*each, {"1", "false"}) == std::vector<float>{1, 0, 1, 0});
    CHECK(features(*each, {" 02 ", "true"}) == std::vector<float>{0, 1, 0, 1});
    CHECK(features(*each, {"3", "maybe"}) == std::vector<float>{0, 0, 0, 0});
  }
  const TablePreparation older = TablePreparation::from_json(
      R"({"kind":"table","columns":[{"name":"a","categories":["1","1.0"],"missing":"1"}]})", "model.h5");
  CHECK(features(older, {"1.0"}) == std::vector<float>{0, 1});
}

TEST_CASE("columns that cannot be features are refused") {
  const auto error = [](const char* scale, const std::vector<RawColumn>& columns,
                        const std::vector<Cells>& rows) {
    return error_of([&] { fitted(scale, columns, rows); });
  };
  CHECK(error("standart", {{"a", true}}, {{"1"}}) ==
        "unknown scale \"standart\" (did you mean \"standard\"?)");
  CHECK_THAT(error("none", {{"a", true}}, {{""}, {"nan"}}), Contains("column \"a\": has no value"));
  CHECK_THAT(error("none", {{"a", false}}, {{"?"}}), Contains("column \"a\": has no value"));
  std::vector<Cells> names;
  for (int i = 0; i < 30; ++i) names.push_back({"name " + std::to_string(i)});
  CHECK_THAT(error("none", {{"a", false}}, names),
             Contains("column \"a\": has 30 different values in 30 rows"));
  names.insert(names.end(), names.begin(), names.end());
  CHECK(fitted("none", {{"a", false}}, names).width() == 30);
  CHECK_THAT(error("standard", {{"a", true}}, {{"1e308"}, {"-1e308"}, {"1e308"}}), Contains("too large"));
  CHECK_THAT(error("standard", {{"a", true}}, {{"1e-200"}, {"2e-200"}}), Contains("too small"));

  const TablePreparation table = fitted("yeo-johnson", {{"a", true}}, {{"0"}, {"1"}, {"2"}});
  CHECK_THAT(error_of([&] { features(table, {"x"}); }), Contains("column \"a\": \"x\" is not a number"));
  CHECK_THAT(error_of([&] { features(table, {"inf"}); }), Contains("\"inf\" is not a finite number"));
  CHECK_THAT(error_of([&] { features(table, {"1e300"}); }), Contains("is too far from the training rows"));

  const TablePreparation commas = fitted("none", {{"a", true, {.decimal = ','}}}, {{"1,5"}, {"2"}});
  CHECK_THAT(
      error_of([&] { features(commas, {"15.5"}); }),
      Contains("column \"a\": \"15.5\" is not a number with a decimal comma, as in the training table"));
  CHECK_THAT(hint_of([&] { features(table, {"15,5"}); }), Contains("write it with a decimal point"));

  const auto broken = [](const std::string& json) {
    return error_of([&] { TablePreparation::from_json(json, "model.h5: preparation"); });
  };
  CHECK_THAT(broken(R"({"kind":"text"})"), Contains("prepares samples of kind text, not table"));
  CHECK_THAT(broken(R"({"kind":"table"})"), Contains("is damaged"));
  CHECK_THAT(broken(R"({"kind":"table","columns":[{"name":"a","center":0,"spread":0,"missing":0}]})"),
             Contains("the spread of column \"a\""));
  CHECK_THAT(broken(R"({"kind":"table","columns":[{"name":"a","categories":["a"],"missing":"b"}]})"),
             Contains("the categories of column \"a\""));
}

TEST_CASE("Yeo-Johnson follows its definition") {
  CHECK(yeo_johnson(3, 0.5) == Approx((std::sqrt(4.0) - 1) / 0.5));
  CHECK(yeo_johnson(3, 2) == Approx(7.5));
  CHECK(yeo_johnson(3, 0) == Approx(std::log(4.0)));
  CHECK(yeo_johnson(-3, 0) == Approx(-7.5));
  CHECK(yeo_johnson(-3, 2) == Approx(-std::log(4.0)));
  CHECK(yeo_johnson(-3, 1.5) == Approx(-(std::sqrt(4.0) - 1) / 0.5));
  for (const double x : {-5.0, -0.1, 0.0, 0.1, 5.0}) CHECK(yeo_johnson(x, 1) == Approx(x));
  CHECK(yeo_johnson(0, -3) == 0);
}

TEST_CASE("the most likely lambda of transformed normal numbers is found") {
  // Evenly spaced quantiles of a logistic distribution (symmetric), then e^x - 1: lambda 0.
  std::vector<double> values;
  for (int i = 1; i < 400; ++i) {
    const double p = i / 400.0;
    values.push_back(std::expm1(4 + 0.5 * std::log(p / (1 - p))));
  }
  const double lambda = yeo_johnson_lambda(values);
  CHECK(std::abs(lambda) < 0.02);
  for (double& value : values) value = -value;
  CHECK(yeo_johnson_lambda(values) == Approx(2 - lambda).margin(1e-6));
}

TEST_CASE("lambda is finite for all numbers") {
  const std::vector<std::vector<double>> columns{{3, 3, 3},    {1e15, 2e15, 1e18}, {-1e300, 1e300, 0},
                                                 {0, 0, 0, 1}, {1e-300, 2e-300},   {1e9, 1e9 + 1, 1e9 + 2},
                                                 {5}};
  for (const std::vector<double>& values : columns) CHECK(std::isfinite(yeo_johnson_lambda(values)));
  CHECK(yeo_johnson_lambda(columns[0]) == 1);
}

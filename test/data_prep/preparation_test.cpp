#include "convoke/data_prep/preparation.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::data_prep;

TEST_CASE("a preparation has a kind") {
  CHECK(preparation_kind(R"({"kind":"text","length":3})", "x.h5") == "text");
  CHECK(preparation_kind(R"({"splits":"the source's own"})", "x.h5").empty());
  CHECK(preparation_kind("", "x.h5").empty());
  for (const char* broken : {"{", "[]", "3"}) {
    CHECK(error_of([&] { preparation_kind(broken, "x.h5"); }) == "x.h5: is damaged: it is not a JSON object");
  }
}

TEST_CASE("a preparation has the axes of arrays") {
  CHECK(axes_in(preparation_of_axes("NWH"), "x.h5") == "NWH");
  CHECK(axes_in("", "x.h5").empty());
  CHECK(axes_in(R"({"splits":"a","axes":3})", "x.h5").empty());
}

TEST_CASE("preparations are equal if they make the same samples") {
  const std::string one = R"({"kind":"text","length":3,"splits":"a","shuffled":true,"left_out":1})";
  CHECK(prepare_alike(one, R"({"kind":"text","length":3,"splits":"b","shuffled":false,"left_out":0})"));
  CHECK(prepare_alike(one, R"({"kind":"text","length":3})"));
  CHECK(prepare_alike(one, R"({"kind":"text","length":3,"axes":"NWH"})"));
  CHECK(prepare_alike("", R"({"axes":"NWH"})"));
  CHECK_FALSE(prepare_alike(one, R"({"kind":"text","length":4})"));
}

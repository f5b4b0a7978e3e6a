#include "convoke/core/shape.hpp"

#include "support/catch.hpp"

using convoke::Shape;

TEST_CASE("a shape counts its elements and converts to text") {
  const Shape image{32, 26, 26};
  CHECK(image.rank() == 3);
  CHECK(image[2] == 26);
  CHECK(image.elements() == 21632);
  CHECK(image.to_string() == "(32, 26, 26)");
  CHECK(image.with_batch() == "(N, 32, 26, 26)");
  CHECK(Shape{7}.to_string() == "(7)");
  CHECK(Shape{100000, 100000}.elements() == 10000000000);
}

TEST_CASE("an empty shape is a scalar") {
  CHECK(Shape{}.elements() == 1);
  CHECK(Shape{}.to_string() == "()");
  CHECK(Shape{}.with_batch() == "(N)");
}

TEST_CASE("shapes are equal if their extents are equal") {
  CHECK(Shape{1, 2} == Shape(std::vector<std::int64_t>{1, 2}));
  CHECK_FALSE(Shape{1, 2} == Shape{2, 1});
  CHECK_FALSE(Shape{1, 2} == Shape{1, 2, 1});
}

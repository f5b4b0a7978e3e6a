// Which normalization fits which type; batch_loader_test.cpp tests the arithmetic.
#include "convoke/data/normalization.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "typed_example.hpp"

using convoke::Shape;
using namespace convoke::data;

TEST_CASE("numbers are normalized per channel or feature, or not at all") {
  for (const Shape& seen : {Shape{3}, Shape{7, 3}, Shape{3, 4, 5}}) {
    DatasetInfo info = typed_info(SampleType::kFloat32, seen);
    CHECK(normalization_from("none", info).scale == std::vector<float>(3, 1.0F));
    CHECK(normalization_from("none", info).shift == std::vector<float>(3, 0.0F));
    CHECK_THAT(
        error_of([&] { normalization_from("unit", info, "x.h5"); }),
        Contains("x.h5: normalization \"unit\" divides by 255 and is only for uint8; these samples are "
                 "float32"));
    CHECK_THAT(
        error_of([&] { normalization_from("standard", info, "x.h5"); }),
        Contains("x.h5: normalization \"standard\" needs the attributes channel_mean and channel_std"));
    info.channel_mean = {1, 2, 3};
    info.channel_std = {1, 2, 4};
    CHECK(normalization_from("standard", info).scale == std::vector<float>{1, 0.5F, 0.25F});
    CHECK(normalization_from("standard", info).shift == std::vector<float>{-1, -1, -0.75F});
  }
}

TEST_CASE("the error about \"standard\" says how many values to add") {
  CHECK_THAT(hint_of([] {
               normalization_from("standard", typed_info(SampleType::kFloat32, Shape{7, 3}));
             }),
             Contains("3 values each"));
}

TEST_CASE("a standard deviation from rounding errors does not inflate a constant") {
  DatasetInfo info = typed_info(SampleType::kFloat32, Shape{3});
  info.channel_mean = {0.1, 0.0, 1e6};
  info.channel_std = {1e-17, 1e-17, 0.5};
  const Normalization standard = normalization_from("standard", info);
  CHECK(standard.scale == std::vector<float>{1, 1e17F, 2});
  CHECK(standard.shift[0] == -0.1F);
}

TEST_CASE("the normalizations of published weights are for 8-bit images of three channels") {
  for (const char* name : {"imagenet", "keras-tf", "keras-caffe"}) {
    DatasetInfo info = typed_info(SampleType::kFloat32, Shape{3, 4, 5});
    CHECK_THAT(error_of([&] { normalization_from(name, info, "x.h5"); }),
               Contains("x.h5: normalization \"" + std::string(name) +
                        "\" is for 8-bit images of 3 channels; these samples are images of shape (3, 4, 5), "
                        "float32"));
    info = typed_info(SampleType::kUint8, Shape{1, 4, 5});
    CHECK_THAT(error_of([&] { normalization_from(name, info, "x.h5"); }),
               Contains("of shape (1, 4, 5), uint8"));
  }
}

TEST_CASE("tokens are not normalized") {
  const DatasetInfo info = typed_info(SampleType::kInt32, Shape{80});
  CHECK(normalization_from("none", info).scale.empty());
  CHECK(normalization_from("none", info).shift.empty());
  for (const char* name : {"unit", "standard"}) {
    CHECK_THAT(error_of([&] { normalization_from(name, info, "x.h5"); }),
               Contains("x.h5: normalization \"" + std::string(name) +
                        "\" is for numbers; these samples are tokens"));
  }
  CHECK_THAT(error_of([&] { normalization_from("nonne", info); }), Contains("did you mean \"none\"?"));
}

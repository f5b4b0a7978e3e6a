#include "convoke/train/fit.hpp"

#include "convoke/data/dataset_writer.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/nn/layer_table.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using convoke::Shape;
using namespace convoke::train;
namespace data = convoke::data;

namespace {

convoke::run::ModelDescription model_of(const Shape& input, std::int64_t units = 3) {
  std::vector<convoke::Settings> layers;
  if (input.rank() > 1) layers.push_back({{"layer", "flatten"}});
  layers.push_back({{"layer", "dense"}, {"units", units}});
  return {.graph = convoke::nn::build_graph(input, layers), .normalization = {}, .class_names = {}};
}

data::DatasetInfo info_of(data::SampleType type, const Shape& shape) {
  return {.sample_shape = shape, .sample_type = type, .classes = 3};
}

std::string misfit(const convoke::run::ModelDescription& model, const data::DatasetInfo& info) {
  return error_of([&] { require_fit(model, "model.h5", info, "x.h5"); });
}

}  // namespace

TEST_CASE("a model fits samples of its shape, type and classes") {
  using data::SampleType;
  CHECK(misfit(model_of({6}), info_of(SampleType::kFloat32, {6})).empty());
  CHECK(misfit(model_of({1, 2, 3}), info_of(SampleType::kFloat32, {1, 2, 3})).empty());
  CHECK(misfit(model_of({1, 2, 3}), info_of(SampleType::kUint8, {1, 2, 3})).empty());
  CHECK(misfit(model_of({6}), info_of(SampleType::kInt32, {6})) ==
        "x.h5 has tokens (int32), but the model of model.h5 takes numbers");
  CHECK(misfit(model_of({6}), info_of(SampleType::kFloat32, {7})) ==
        "x.h5 has samples of shape (7), but the model of model.h5 takes (6)");
  CHECK(misfit(model_of({6}, 4), info_of(SampleType::kFloat32, {6})) ==
        "x.h5 has 3 classes, but the model of model.h5 predicts 4");
  auto measured = model_of({1, 2, 3});
  measured.float_images = true;
  CHECK(misfit(measured, info_of(SampleType::kFloat32, {1, 2, 3})).empty());
  CHECK_THAT(misfit(measured, info_of(SampleType::kUint8, {1, 2, 3})),
             Contains("x.h5 has images of 0..255 (uint8), but the model of model.h5 was trained on"));
  auto weighted = model_of({6});
  weighted.loss = convoke::nn::make_loss({{"class_weights", convoke::Value::Array{1, 2, 3, 4}}});
  CHECK(misfit(weighted, info_of(SampleType::kFloat32, {6})) ==
        "x.h5 has 3 classes, but the loss of model.h5 has 4 class weights");
}

TEST_CASE("classes have the same numbers in a model and a dataset; other names are only noted") {
  auto model = model_of({6});
  auto info = info_of(data::SampleType::kFloat32, {6});
  const auto compared = [&](std::vector<std::string> names) {
    info.class_names = std::move(names);
    return require_same_classes(model, "model.h5", info, "x.h5");
  };
  CHECK(compared({"b", "a", "c"}).empty());  // the model has no names
  model.class_names = {"normal", "mild", "severe"};
  CHECK(compared({"normal", "mild", "severe"}).empty());
  CHECK(compared({}).empty());
  CHECK(error_of([&] {
          compared({"mild", "normal", "severe"});
        }) == "x.h5: class 0 is \"mild\", but in the model of model.h5 it is \"normal\"");
  CHECK(hint_of([&] {
          compared({"mild", "normal", "severe"});
        }) ==
        "if its source names the classes, prepare it again with --class-names normal,mild,severe; if its "
        "labels are numbers, number them as the model does");
  CHECK_THAT(error_of([&] { compared({"none", "normal", "severe"}); }), Contains("class 1 is \"normal\""));
  CHECK(compared({"normal", "n02", "severe"}) ==
        "x.h5: class 1 is \"n02\", but in the model of model.h5 it is \"mild\"");
}

TEST_CASE("a split that is read later must match the training split") {
  const TemporaryFolder folder;
  const auto file = folder / "x.h5";
  {
    convoke::hdf5::File made = convoke::hdf5::File::create(file);
    made.set_attribute("convoke_format", "dataset");
    made.set_attribute("format_version", 1);
    made.set_attribute("classes", 3);
    made.write("alike/samples", std::span<const float>(std::vector<float>(4)), Shape{2, 2});
    made.write("wider/samples", std::span<const float>(std::vector<float>(6)), Shape{2, 3});
    made.write("tokens/samples", std::span<const std::int32_t>(std::vector<std::int32_t>(4)), Shape{2, 2});
    for (const char* split : {"alike", "wider", "tokens"}) {
      made.write(std::string(split) + "/labels", std::vector<std::int32_t>(2));
    }
    made.close();
  }
  const data::DatasetInfo training = info_of(data::SampleType::kFloat32, {2});
  const auto refused = [&](const char* split) {
    return error_of([&] { require_split(training, file, split); });
  };
  CHECK(refused("alike").empty());
  CHECK_THAT(refused("wider"), Contains("x.h5: split \"wider\" has float32 samples of shape (3), but the "
                                        "training split float32 of (2)"));
  CHECK_THAT(refused("tokens"), Contains("x.h5: split \"tokens\" has int32 samples of shape (2)"));
  CHECK_THAT(refused("alikes"), Contains("x.h5: has no split \"alikes\" (did you mean \"alike\"?)"));
}

TEST_CASE("an embedding must have a row for every token") {
  const TemporaryFolder folder;
  data::DatasetInfo info = info_of(data::SampleType::kInt32, {2});
  info.vocabulary = 50;
  auto writer = data::DatasetWriter::create(folder / "x.h5", info, {{"train", 2}});
  writer.write("train", 0, std::vector<std::int32_t>{0, 41, 3, 7}, std::vector<std::int32_t>{0, 1});
  writer.finish();
  const data::Dataset dataset = data::Dataset::open(folder / "x.h5", {"train"});
  const auto refused = [&](std::int64_t vocabulary) {
    return error_of([&] { require_vocabulary(vocabulary, "model.h5", dataset, "train"); });
  };
  CHECK(refused(50).empty());
  CHECK(refused(42).empty());
  CHECK_THAT(refused(41),
             Contains("x.h5: split \"train\" has token 41, but the embedding of model.h5 has rows "
                      "0..40"));
}

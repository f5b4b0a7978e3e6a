#include "convoke/train/fit.hpp"

#include "convoke/data/dataset_writer.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/nn/freeze.hpp"
#include "convoke/nn/layer_table.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

using namespace convoke;
using namespace convoke::train;

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

namespace {

nn::Graph graph_of(const Shape& input, const Settings& batch_norm) {
  return nn::build_graph(
      input, std::vector<Settings>{batch_norm, {{"layer", "flatten"}}, {{"layer", "dense"}, {"units", 2}}});
}
const Settings kBatchNorm{{"layer", "batch_norm"}, {"name", "bn"}};

std::string refused(const nn::Graph& graph, std::int64_t samples, std::int64_t batch,
                    std::int64_t micro_batch) {
  engine::EngineOptions options;
  options.batch = batch;
  options.micro_batch = micro_batch;
  return error_of([&] { require_batch_statistics(graph, options, samples, "job"); });
}

// Returns the samples of each micro-batch, with micro-batches cut as the engine cuts an epoch into steps, and
// a step into micro-batches.
bool some_micro_batch_is_one_sample(std::int64_t samples, std::int64_t batch, std::int64_t micro_batch) {
  for (std::int64_t step = 0; step < samples; step += batch) {
    const std::int64_t end = std::min(samples, step + batch);
    for (std::int64_t first = step; first < end; first += micro_batch) {
      if (std::min(end, first + micro_batch) - first == 1) return true;
    }
  }
  return false;
}

}  // namespace

// torch 2: BatchNorm1d(4).train()(torch.zeros(1, 4)) and BatchNorm2d(4).train()(torch.zeros(1, 4, 1, 1))
// raise "Expected more than 1 value per channel when training"; (1, 4, 1, 2), (2, 4), and .eval() do not.
TEST_CASE("batch norm over one value per channel is refused, as in PyTorch") {
  CHECK(single_value_batch_norm(graph_of({4}, kBatchNorm)) == "bn");
  CHECK(single_value_batch_norm(graph_of({4, 1, 1}, kBatchNorm)) == "bn");
  CHECK(single_value_batch_norm(graph_of({1, 4}, kBatchNorm)) == "bn");  // (L, C), L = 1
  CHECK(single_value_batch_norm(graph_of({4, 1, 2}, kBatchNorm)).empty());
  CHECK(single_value_batch_norm(graph_of({2, 4}, kBatchNorm)).empty());
  Settings frozen = kBatchNorm;
  frozen.set("frozen", true);
  CHECK(single_value_batch_norm(graph_of({4}, frozen)).empty());
  nn::Graph graph = graph_of({4}, kBatchNorm);
  nn::freeze(graph, std::vector<std::string>{"bn"});
  CHECK(single_value_batch_norm(graph).empty());

  CHECK(refused(graph_of({4, 1, 1}, kBatchNorm), 64, 16, 1) ==
        "job: node bn has one value per channel in a sample, (4, 1, 1), so its variance is undefined: a "
        "micro-batch is one sample");
  CHECK(refused(graph_of({4}, kBatchNorm), 65, 16, 8) ==
        "job: node bn has one value per channel in a sample, (4), so its variance is undefined: the last "
        "micro-batch of an epoch is one sample: 65 training samples in micro-batches of 8");
  CHECK(refused(graph_of({4, 1, 2}, kBatchNorm), 65, 16, 8).empty());
  CHECK(refused(graph_of({4, 1, 2}, kBatchNorm), 65, 16, 1).empty());
  CHECK(refused(graph, 65, 16, 8).empty());
}

TEST_CASE("a run is refused exactly if one of its micro-batches is a single sample") {
  const nn::Graph graph = graph_of({4}, kBatchNorm);
  for (std::int64_t batch = 1; batch <= 12; ++batch) {
    for (std::int64_t micro_batch = 1; micro_batch <= batch; ++micro_batch) {
      if (batch % micro_batch != 0) continue;
      for (std::int64_t samples = 1; samples <= 40; ++samples) {
        CAPTURE(batch, micro_batch, samples);
        CHECK(refused(graph, samples, batch, micro_batch).empty() ==
              !some_micro_batch_is_one_sample(samples, batch, micro_batch));
      }
    }
  }
}

TEST_CASE("a synchronized batch norm is refused if a step, or a rank's share of it, is a single sample") {
  Settings synchronized = kBatchNorm;
  synchronized.set("synchronized", true);
  const nn::Graph graph = graph_of({4}, synchronized);
  engine::EngineOptions options;
  options.batch = 32;
  const auto refused_on = [&](int replicas, std::int64_t samples, std::int64_t micro_batch) {
    options.micro_batch = micro_batch;
    return error_of([&] { require_batch_statistics(graph, options, samples, "job", replicas); });
  };
  CHECK_THAT(refused_on(1, 65, 8), Contains("the last batch of an epoch is one sample"));
  CHECK(refused_on(1, 73, 8).empty());
  CHECK_THAT(refused_on(2, 73, 8),
             Contains("each of 2 ranks trains a model on its share of the batch, which is "
                      "one sample for a rank in a step of 9 samples"));
  CHECK(refused_on(2, 74, 8).empty());
  CHECK_THAT(refused_on(32, 64, 1), Contains("in a step of 32 samples"));
  CHECK(refused_on(16, 64, 1).empty());
}

TEST_CASE("the hint names micro-batches that leave no sample alone") {
  engine::EngineOptions options;
  options.batch = 32;
  options.micro_batch = 8;
  const auto hint = [&](std::int64_t samples) {
    return hint_of([&] { require_batch_statistics(graph_of({4}, kBatchNorm), options, samples, "job"); });
  };
  CHECK(hint(121) ==
        "set train.micro_batch to 16, 32; or freeze the node");  // 121 = 7 * 16 + 9 = 3 * 32 + 25
  CHECK(hint(1) == "choose another train.batch, or use one sample more or less (data.validation_split)");
  CHECK(hint(120).empty());
}

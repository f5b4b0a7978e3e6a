#include "convoke/train/batch_statistics.hpp"

#include "convoke/nn/freeze.hpp"
#include "convoke/nn/layer_table.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using train::require_batch_statistics;
using train::single_value_batch_norm;

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

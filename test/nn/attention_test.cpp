#include "around.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

constexpr PlanOptions kTwoMicroBatchesOf2{.micro_batch = 2, .micro_batches = 2};

Symbol project(Symbol x, std::int64_t features) { return conv1d(x, {.filters = features, .kernel = 1}); }

/// Attention of a sequence to itself, with projections to q, k and v.
Graph self_attention(std::int64_t length, std::int64_t features, AttentionOptions options) {
  return along(features, length, [&](Symbol x) {
    return attention(project(x, features), project(x, features), project(x, features), options);
  });
}

}  // namespace

TEST_CASE("attention: heads, lengths, widths, scale") {
  check_graph(self_attention(4, 6, {.heads = 2}));
  check_graph(self_attention(3, 6, {.heads = 6}), kTwoMicroBatchesOf2);
  check_graph(self_attention(1, 3, {}));
  check_graph(self_attention(5, 1, {.scale = 2.5}), {.micro_batch = 1});
  check_graph(self_attention(17, 16, {.heads = 4, .scale = 0.3}), {.micro_batch = 2});
}

TEST_CASE("attention to another sequence, with values of another width") {
  for (const std::int64_t heads : {1, 2}) {
    Graph graph({5, 2});
    const Symbol x = project(input(graph), 4);
    const Symbol other = project(slice(input(graph), {.axis = {"time"}, .begin = 1, .size = 3}), 4);
    dense(flatten(attention(x, other, project(other, 6), {.heads = heads})), {.units = 3});
    check_graph(graph);
  }
}

TEST_CASE("attention of a value to itself, once and after a recurrent layer") {
  check_graph(along(4, 3, [](Symbol x) { return attention(x, x, x, {.heads = 2}); }));
  check_graph(along(3, 4,
                    [](Symbol x) {
                      x = lstm(x, {.units = 4, .sequences = true});
                      return gru(attention(x, x, x, {.heads = 2}), {.units = 3});
                    }),
              kTwoMicroBatchesOf2);
}

TEST_CASE("attention in bf16") { check_bf16(self_attention(4, 16, {.heads = 2}), kTwoMicroBatchesOf2); }

TEST_CASE("attention refuses what does not fit") {
  const auto refusal = [](const std::vector<ValueSpec>& inputs, std::int64_t heads = 1) {
    return error_of([&] { Attention({.heads = heads}).output_shape(inputs); });
  };
  CHECK(refusal({{2, 4}, {3, 5}, {3, 4}}) ==
        "its query (N, 2, 4), key (N, 3, 5) and value (N, 3, 4) do not fit");
  CHECK(refusal({{2, 4}, {3, 4}, {2, 4}}) ==
        "its query (N, 2, 4), key (N, 3, 4) and value (N, 2, 4) do not fit");
  CHECK(refusal({{2, 4}, {3, 4}, {3, 6}}, 4) ==
        "its 4 heads do not divide the features of its query (N, 2, 4) and value (N, 3, 6)");
  CHECK(refusal({{2, 3}, {2, 3}, {6}}) ==
        "needs three sequences (N, L, F): query, key and value, but has (N, 2, 3), (N, 2, 3), (N, 6)");
  CHECK(refusal({{2, 3}, {2, 3}}) ==
        "needs three sequences (N, L, F): query, key and value, but has (N, 2, 3), (N, 2, 3)");
}

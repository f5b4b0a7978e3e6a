// Worker threads: each has its own plan and gradients; all share the parameters.
#include "convoke/nn/backend.hpp"

#include "convoke/nn/layers.hpp"
#include "experiment.hpp"
#include "nn/plan/step_threads.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

TEST_CASE("two threads that share the parameters give the results of one thread", "[threads]") {
  single_threaded();
  Graph graph({1, 12, 12});
  Symbol x = max_pool(relu(batch_norm(conv2d(input(graph), {.filters = 20, .kernel = 3}))));
  x = relu(conv2d(x, {.filters = 16, .kernel = 3, .padding = Padding::same()}));
  dense(dropout(flatten(x), 0.3), {.units = 4});
  const PlanOptions options{.micro_batch = 4};
  const auto layout = std::make_shared<const ParameterLayout>(graph, options.micro_batch);
  const AlignedBuffer<float> parameters = random_parameters(*layout);

  constexpr std::uint32_t kMicroBatches = 6;
  using Gradients = std::array<std::vector<float>, kMicroBatches>;
  const auto work = [&](std::uint32_t first, std::uint32_t step, Gradients& results) {
    single_threaded();
    Network network(graph, layout, options);  // compiled while the others compile
    AlignedBuffer<float> gradients(layout->size());
    network.bind(parameters.data(), gradients.data());
    for (std::uint32_t micro_batch = first; micro_batch < kMicroBatches; micro_batch += step) {
      const Batch batch(graph, 4, micro_batch * 4);
      std::copy(batch.input.begin(), batch.input.end(), network.input().begin());
      network.forward(batch.key());
      network.loss(batch.labels, 4 * kMicroBatches);
      network.backward([](std::size_t) {});
      results[micro_batch].assign(gradients.data(), gradients.data() + gradients.size());
    }
  };
  Gradients alone, together;
  work(0, 1, alone);
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::thread other(work, 1, 2, std::ref(together));
    work(0, 2, together);
    other.join();
    for (std::uint32_t micro_batch = 0; micro_batch < kMicroBatches; ++micro_batch)
      CHECK(together[micro_batch] == alone[micro_batch]);
  }
}

TEST_CASE("each part of a shared step is computed once, on threads of their own", "[threads]") {
  set_primitive_threads(3);
  for (const std::int64_t count : {1, 2, 3, 7, 64}) {
    std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
    std::array<std::atomic<int>, 3> by_thread{};
    share(count, 1 << 14, [&](std::int64_t begin, std::int64_t end, int thread) {
      ++by_thread[static_cast<std::size_t>(thread)];
      for (std::int64_t i = begin; i < end; ++i) ++done[static_cast<std::size_t>(i)];
    });
    CHECK(std::ranges::all_of(done, [](const auto& times) { return times == 1; }));
    CHECK(std::ranges::count_if(by_thread, [](const auto& parts) { return parts == 1; }) ==
          std::min<std::int64_t>(count, 3));
  }
  int parts = 0;
  share(64, 1, [&](std::int64_t begin, std::int64_t end, int) { parts += end - begin == 64 ? 1 : 2; });
  CHECK(parts == 1);  // too little work
  single_threaded();
}

TEST_CASE("threads that share the steps of a plan change no bit of our kernels", "[threads]") {
  Graph graph({1, 28, 28});
  Symbol x = relu(max_pool(conv2d(input(graph), {.filters = 16, .kernel = 3})));  // fused
  x = relu(conv2d(x, {.filters = 32, .kernel = 3, .padding = Padding::same()}));  // Winograd
  Symbol y = max_pool(relu(batch_norm(conv2d(x, {.filters = 64, .kernel = 3, .padding = Padding::same()}))));
  y = silu(batch_norm(gelu(y)));
  y = dropout(multiply({y, silu(y)}), 0.3);
  dense(flatten(max_pool(add(y, relu(y)), {.size = 3, .stride = 2})), {.units = 4});
  const PlanOptions options{.micro_batch = 12};
  const auto layout = std::make_shared<const ParameterLayout>(graph, options.micro_batch);
  const AlignedBuffer<float> parameters = random_parameters(*layout);
  const Batch batch(graph, options.micro_batch, 0);
  const auto gradients_with = [&](int threads) {
    set_primitive_threads(threads);
    Network network(graph, layout, options);
    AlignedBuffer<float> arena(layout->size());
    network.bind(parameters.data(), arena.data());
    std::copy(batch.input.begin(), batch.input.end(), network.input().begin());
    network.forward(batch.key());
    network.loss(batch.labels, options.micro_batch);
    network.backward([](std::size_t) {});
    single_threaded();
    return std::vector<float>(arena.data(), arena.data() + arena.size());
  };
  const std::vector<float> alone = gradients_with(1);
  for (const int threads : {2, 3, 5}) CHECK(gradients_with(threads) == alone);
}

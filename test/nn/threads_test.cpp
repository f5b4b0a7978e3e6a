// Worker threads: each has its own plan and gradients; all share the parameters.
#include "convoke/nn/backend.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/batch_norm.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/dense.hpp"
#include "convoke/nn/layers/dropout.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "convoke/nn/layers/reshape.hpp"
#include "experiment.hpp"
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

// A training step allocates nothing after the first. A program of its own, for it replaces operator new and
// stands in front of oneDNN, whose own allocations (its threads' scratch memory) are not ours.
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <cstdlib>
#include <new>

#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/batch_norm.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/dense.hpp"
#include "convoke/nn/layers/dropout.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "convoke/nn/layers/softmax.hpp"
#include "convoke/nn/layers/structure.hpp"
#include "experiment.hpp"
#include "support/catch.hpp"

namespace {

thread_local bool inside_onednn = false;
thread_local int allocations = 0, executions = 0;

void* counted(std::size_t size, std::size_t alignment) {
  if (!inside_onednn) ++allocations;
  void* memory = alignment > alignof(std::max_align_t)
                     ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                     : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return counted(size, 0); }
void* operator new[](std::size_t size) { return counted(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

extern "C" dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream,
                                                int count, const dnnl_exec_arg_t* arguments) {
  using Execute = decltype(&dnnl_primitive_execute);
  static const auto real = reinterpret_cast<Execute>(dlsym(RTLD_NEXT, "dnnl_primitive_execute"));
  ++executions;
  inside_onednn = true;
  const dnnl_status_t status = real(primitive, stream, count, arguments);
  inside_onednn = false;
  return status;
}

using namespace convoke::nn;

TEST_CASE("a step allocates nothing") {
  Graph graph({3, 12, 12});
  const Symbol x = max_pool(relu(batch_norm(conv2d(input(graph), {.filters = 20, .kernel = 3}))));
  Symbol y = relu(conv2d(x, {.filters = 20, .kernel = 3, .padding = Padding::same()}));
  y = batch_norm(conv2d(y, {.filters = 20, .kernel = 3, .padding = Padding::same()}));
  y = sigmoid(average_pool(max_pool(relu(add(y, x)), {.size = 3, .stride = 1})));
  y = batch_norm(dropout(dense(dropout(flatten(y), 0.2), {.units = 30}), 0.5));
  softmax(dense(softmax(relu(y)), {.units = 5}));
  Experiment experiment(graph, {.lane = 4, .lanes = 2});
  const Batch batch(graph, 8);
  const StepKey key = batch.key();
  std::size_t last = 0;
  const Network::Ready ready = [&](std::size_t end) { last = end; };
  const auto step = [&] {
    std::copy(batch.input.begin(), batch.input.end(), experiment.network.input().begin());
    experiment.network.forward(key);
    experiment.network.softmax_cross_entropy(batch.labels, 8);
    experiment.network.backward(ready);
  };
  step();
  allocations = executions = 0;
  for (int i = 0; i < 3; ++i) step();
  const int counted_allocations = allocations, counted_executions = executions;
  CHECK(counted_allocations == 0);
  CHECK(counted_executions > 30);  // the wrapper was in place
  CHECK(last == experiment.layout->size());
  const std::vector<int> proof(3);
  CHECK(allocations > 0);  // and so was operator new
}

TEST_CASE("inference allocates nothing") {
  Graph graph({1, 8, 8});
  softmax(dense(flatten(relu(batch_norm(conv2d(input(graph), {.filters = 16, .kernel = 3})))), {.units = 5}));
  Experiment experiment(graph, {.lane = 4, .training = false});
  experiment.network.forward();
  allocations = 0;
  experiment.network.forward();
  const int counted_allocations = allocations;
  CHECK(counted_allocations == 0);
}

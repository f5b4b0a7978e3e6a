#include "convoke/engine/evaluator.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "convoke/nn/threads.hpp"

namespace convoke::engine {
namespace {

// As many samples as keep a layer's input and output within a core's share of the caches.
std::int64_t choose_chunk(const nn::Graph& graph) {
  constexpr std::int64_t kBytes = 4 << 20;
  std::int64_t largest = 1;
  for (const nn::Node& node : graph.nodes()) {
    std::int64_t elements = node.shape.elements();
    for (const std::size_t input : node.inputs) elements += graph.node(input).shape.elements();
    largest = std::max(largest, elements);
  }
  return std::clamp<std::int64_t>(kBytes / (largest * static_cast<std::int64_t>(sizeof(float))), 1, 256);
}

//   p_c = exp(z_c - max z) / sum_k exp(z_k - max z)             row by row, in place; rows: (n, classes)
void softmax(std::span<float> rows, std::size_t classes) {
  for (std::size_t row = 0; row < rows.size(); row += classes) {
    const std::span<float> z = rows.subspan(row, classes);
    const float largest = *std::max_element(z.begin(), z.end());
    float sum = 0;
    for (float& value : z) sum += value = std::exp(value - largest);
    for (float& value : z) value /= sum;
  }
}

// Runs work(0), ..., work(workers - 1), the first on this thread; the first exception of any is thrown here.
void on_threads(std::size_t workers, const std::function<void(std::size_t)>& work) {
  std::exception_ptr failure;
  std::mutex mutex;
  const auto guarded = [&](std::size_t worker) {
    try {
      nn::single_threaded();
      work(worker);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t worker = 1; worker < workers; ++worker) threads.emplace_back(guarded, worker);
    guarded(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

EvaluatorOptions evaluator_options(const EngineOptions& engine) {
  return {.threads = engine.threads, .chunk = 0, .convolution = engine.convolution};
}

Evaluator::Evaluator(const nn::Graph& graph, EvaluatorOptions options)
    : parameters_(canonical_parameters(graph)),
      input_(graph.input_shape()),
      classes_(graph.output_shape().elements()),
      chunk_(options.chunk > 0 ? options.chunk : choose_chunk(graph)),
      probabilities_(graph.nodes().back().layer != nullptr &&
                     graph.nodes().back().layer->type() == "softmax"),
      layout_(std::make_shared<nn::ParameterLayout>(graph, chunk_, options.convolution)),
      arena_(layout_->size()) {
  nn::single_threaded();  // primitives are made for as many threads as their maker may use
  const nn::PlanOptions plan{
      .lane = chunk_, .lanes = 1, .training = false, .convolution = options.convolution};
  for (int worker = 0; worker < options.threads; ++worker) {
    workers_.emplace_back(graph, layout_, plan).bind(arena_.data(), nullptr);
  }
}

void Evaluator::load(std::span<const float> parameters) {
  pack(parameters_, *layout_, parameters, arena_.span());
}

std::vector<float> Evaluator::predict(const data::BatchLoader& loader, std::span<const std::uint32_t> ids) {
  const auto size = static_cast<std::size_t>(input_.elements());
  return predict(ids.size(), [&](std::size_t first, std::span<float> samples) {
    loader.load(ids.subspan(first, samples.size() / size), samples, {});
  });
}

std::vector<float> Evaluator::predict(std::span<const float> samples) {
  const auto size = static_cast<std::size_t>(input_.elements());
  return predict(samples.size() / size, [&](std::size_t first, std::span<float> chunk) {
    std::copy_n(samples.begin() + static_cast<std::ptrdiff_t>(first * size), chunk.size(), chunk.begin());
  });
}

// Workers take chunks as they come free; the last chunk is filled up with whatever the input held before, and
// what comes of that is left out.
std::vector<float> Evaluator::predict(std::size_t count,
                                      const std::function<void(std::size_t, std::span<float>)>& fill) {
  const auto classes = static_cast<std::size_t>(classes_);
  const auto chunk = static_cast<std::size_t>(chunk_);
  const auto size = static_cast<std::size_t>(input_.elements());
  std::vector<float> result(count * classes);
  std::atomic<std::size_t> next = 0;
  const std::size_t chunks = (count + chunk - 1) / chunk;
  on_threads(std::min(workers_.size(), std::max<std::size_t>(chunks, 1)), [&](std::size_t worker) {
    nn::Network& network = workers_[worker];
    for (std::size_t first = 0; (first = next.fetch_add(chunk)) < count;) {
      const std::size_t n = std::min(chunk, count - first);
      fill(first, network.input().first(n * size));
      network.forward();
      const std::span<float> rows = std::span(result).subspan(first * classes, n * classes);
      std::copy_n(network.output().begin(), rows.size(), rows.begin());
      if (!probabilities_) softmax(rows, classes);
    }
  });
  return result;
}

std::span<const std::uint32_t> part_of(const mpi::Communicator& group, std::span<const std::uint32_t> ids) {
  const auto rank = static_cast<std::size_t>(group.rank());
  const auto size = static_cast<std::size_t>(group.size());
  const std::size_t first = ids.size() * rank / size;
  return ids.subspan(first, ids.size() * (rank + 1) / size - first);
}

Score score(Evaluator& evaluator, const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
            const mpi::Communicator& group) {
  const std::span<const std::uint32_t> mine = part_of(group, ids);
  const std::vector<float> probabilities = evaluator.predict(loader, mine);
  const auto classes = static_cast<std::ptrdiff_t>(evaluator.classes());
  std::int64_t sums[] = {0, 0};  // correct, loss
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto row = probabilities.begin() + static_cast<std::ptrdiff_t>(i) * classes;
    const std::int32_t label = loader.split().labels[mine[i]];
    sums[0] += std::max_element(row, row + classes) - row == label;
    sums[1] += fixed_loss(row[label]);
  }
  group.sum(sums);
  const auto samples = static_cast<std::int64_t>(ids.size());
  if (samples == 0) return {};
  return {samples, static_cast<double>(sums[0]) / static_cast<double>(samples),
          loss_from_fixed(sums[1]) / static_cast<double>(samples)};
}

std::int64_t fixed_loss(float probability) {
  // NaN, too, is as wrong as can be: the comparison fails.
  const double p = probability >= 1e-7F ? static_cast<double>(probability) : 1e-7;
  return std::llrint(std::ldexp(-std::log(p), 32));
}

double loss_from_fixed(std::int64_t sum) { return std::ldexp(static_cast<double>(sum), -32); }

}  // namespace convoke::engine

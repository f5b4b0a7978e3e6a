#include "convoke/engine/evaluator.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "convoke/core/finite.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/timeline.hpp"
#include "convoke/engine/worker_team.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/losses/outputs.hpp"
#include "convoke/optim/passes.hpp"
#include "engine/execution.hpp"

namespace convoke::engine {
namespace {

// Returns how many samples keep a layer's input and output within a core's share of the caches; more of a
// large network, because its weights are read from memory for each chunk.
std::int64_t choose_chunk(const nn::Graph& graph, const EvaluatorOptions& options) {
  if (options.chunk > 0) return options.chunk;
  constexpr std::int64_t kLeast = 4 << 20, kMost = 64 << 20;
  const std::int64_t bytes = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(canonical_values(canonical_parameters(graph)) * 4 / 3), kLeast, kMost);
  std::int64_t largest = 1;
  for (const nn::Node& node : graph.nodes()) {
    std::int64_t elements = node.shape.elements();
    for (const std::size_t input : node.inputs) elements += graph.node(input).shape.elements();
    largest = std::max(largest, elements);
  }
  const std::int64_t chunk =
      std::clamp<std::int64_t>(bytes / (largest * static_cast<std::int64_t>(sizeof(float))), 1, 256);
  if (options.samples == 0) return chunk;
  // Divides the samples of each worker evenly.
  const std::int64_t each = (options.samples + options.threads - 1) / options.threads;
  const std::int64_t pieces = (each + chunk - 1) / chunk;
  return (each + pieces - 1) / pieces;
}

// Runs work(0), ..., work(workers - 1), each on its own thread, the first on this one.
void on_threads(std::size_t workers, const std::function<void(std::size_t)>& work) {
  const Timeline::Use none(nullptr, {});  // the spans of a large evaluation would displace those of all steps
  WorkerTeam(static_cast<int>(workers)).run([&](int worker) {
    nn::single_threaded();
    work(static_cast<std::size_t>(worker));
  });
}

// Sets samples n, n + 1, ... of a chunk to zero, because later layers reuse the memory of an input, and their
// values are not valid tokens.
void clear_from(nn::Network& network, const nn::ValueSpec& input, std::size_t n) {
  const std::size_t first = n * static_cast<std::size_t>(input.elements());
  if (input.type == nn::ValueType::kToken) {
    std::ranges::fill(network.tokens().subspan(first), 0);
  } else {
    std::ranges::fill(network.input().subspan(first), 0.0F);
  }
}

}  // namespace

EvaluatorOptions evaluator_options(const EngineOptions& engine, std::int64_t classes) {
  return {.threads = engine.threads,
          .chunk = 0,
          .convolution = engine.convolution,
          .precision = engine.precision,
          .loss = engine.loss,
          .classes = classes};
}

EvaluatorPlan evaluator_plan(const nn::Graph& graph, const EvaluatorOptions& options) {
  nn::single_threaded();  // a primitive uses as many threads as were set when it was made
  const std::int64_t chunk = choose_chunk(graph, options);
  return {.layout = std::make_shared<nn::ParameterLayout>(
              graph, chunk, options.convolution, options.precision,
              graph.output_shape().rank() == 1 && !options.folded, options.folded),
          .options = {.micro_batch = chunk,
                      .micro_batches = 1,
                      .training = false,
                      .convolution = options.convolution,
                      .precision = options.precision,
                      .working_weights = true,
                      .post_ops = options.folded,
                      .loss = options.loss.get()}};
}

std::vector<float> TestViews::mean(
    const std::function<std::vector<float>(std::int64_t view)>& outputs) const {
  std::vector<float> sum = outputs(0);
  for (std::int64_t view = 1; view < count; ++view) {
    const std::vector<float> one = outputs(view);
    std::transform(sum.begin(), sum.end(), one.begin(), sum.begin(), std::plus<>());
  }
  for (float& value : sum) value /= static_cast<float>(count);
  return sum;
}

Evaluator::Evaluator(const nn::Graph& graph, EvaluatorOptions options)
    : parameter_values_(canonical_values(canonical_parameters(graph))),
      input_(graph.input_shape()),
      output_(graph.output_shape()),
      options_(std::move(options)),
      outputs_(graph.output_shape().elements()),
      own_loss_(nn::make_loss(options_.loss->settings())),
      activated_(nn::outputs_are_activated(graph, *options_.loss)) {
  std::size_t offset = 0;
  for (const nn::Node& node : graph.nodes()) {
    for (const nn::ParameterSpec& spec : node.parameters) {
      const auto size = static_cast<std::size_t>(spec.shape.elements());
      if (spec.trainable && (spec.l1 != 0 || spec.l2 != 0)) {
        penalized_.push_back({offset, size, spec.l1, spec.l2});
      }
      offset += size;
    }
  }
  if (options_.classes == 0) options_.classes = outputs_;
  if (options_.folded) folded_.emplace(graph);
  const nn::Graph& compiled = folded_ ? folded_->graph() : graph;
  parameters_ = canonical_parameters(compiled);
  const EvaluatorPlan plan = evaluator_plan(compiled, options_);
  chunk_ = plan.options.micro_batch;
  layout_ = plan.layout;
  arena_ = AlignedBuffer<float>(std::max<std::size_t>(layout_->size(), 1));
  working_ = std::make_unique<nn::WorkingWeights>(layout_, arena_.data());
  for (int worker = 0; worker < options_.threads; ++worker) {
    workers_.emplace_back(compiled, layout_, plan.options).bind(arena_.data(), nullptr, working_->data());
  }
}

void Evaluator::load(std::span<const float> parameters) {
  if (folded_) {
    pack(parameters_, *layout_, folded_->parameters(parameters), arena_.span());
  } else {
    pack(parameters_, *layout_, parameters, arena_.span());
  }
  working_->refresh();
  penalty_ = 0;
  for (const Penalized& part : penalized_) {
    const std::span<const float> weights = parameters.subspan(part.offset, part.size);
    penalty_ += part.l1 * optim::sum_of_magnitudes(weights) + part.l2 * optim::sum_of_squares(weights);
  }
}

Evaluator::Fill Evaluator::fill_from(const data::BatchLoader& loader,
                                     std::span<const std::uint32_t> ids) const {
  const auto size = static_cast<std::size_t>(input_.elements());
  return [=, this, &loader](nn::Network& network, std::size_t first, std::size_t count) {
    if (input_.type == nn::ValueType::kToken) {
      loader.load_tokens(ids.subspan(first, count), network.tokens().first(count * size), {});
    } else {
      loader.load(ids.subspan(first, count), network.input().first(count * size), {});
    }
  };
}

std::vector<float> Evaluator::outputs(const data::BatchLoader& loader, std::span<const std::uint32_t> ids) {
  return run(ids.size(), fill_from(loader, ids));
}

std::vector<float> Evaluator::outputs(const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
                                      const TestViews& views) {
  return views.mean([&](std::int64_t view) {
    if (view == 0) return outputs(loader, ids);
    return outputs(loader.in_view({.seed = views.seed, .epoch = static_cast<std::uint32_t>(view)}), ids);
  });
}

Evaluator::Fill Evaluator::fill_from(std::span<const float> samples) const {
  const auto size = static_cast<std::size_t>(input_.elements());
  return [=, this](nn::Network& network, std::size_t first, std::size_t count) {
    const std::span<const float> taken = samples.subspan(first * size, count * size);
    if (input_.type == nn::ValueType::kToken) {
      std::transform(taken.begin(), taken.end(), network.tokens().begin(),
                     [](float token) { return static_cast<std::int32_t>(token); });
    } else {
      std::copy(taken.begin(), taken.end(), network.input().begin());
    }
  };
}

std::vector<float> Evaluator::outputs(std::span<const float> samples) {
  return run(samples.size() / static_cast<std::size_t>(input_.elements()), fill_from(samples));
}

std::vector<float> Evaluator::raw(std::span<const float> samples) {
  return run(samples.size() / static_cast<std::size_t>(input_.elements()), fill_from(samples), false);
}

std::vector<float> Evaluator::raw(const data::BatchLoader& loader, std::span<const std::uint32_t> ids) {
  return run(ids.size(), fill_from(loader, ids), false);
}

// Each worker takes the next chunk when it is free. The last chunk is filled up with zeros, whose outputs are
// dropped.
std::vector<float> Evaluator::run(std::size_t count, const Fill& fill, bool activate) {
  const auto outputs = static_cast<std::size_t>(outputs_);
  const auto chunk = static_cast<std::size_t>(chunk_);
  std::vector<float> result(count * outputs);
  std::atomic<std::size_t> next = 0;
  const std::size_t chunks = (count + chunk - 1) / chunk;
  on_threads(std::min(workers_.size(), std::max<std::size_t>(chunks, 1)), [&](std::size_t worker) {
    nn::Network& network = workers_[worker];
    for (std::size_t first = 0; (first = next.fetch_add(chunk)) < count;) {
      const std::size_t n = std::min(chunk, count - first);
      fill(network, first, n);
      if (n < chunk) clear_from(network, input_, n);
      network.forward();
      const std::span<float> rows = std::span(result).subspan(first * outputs, n * outputs);
      std::copy_n(network.output().begin(), rows.size(), rows.begin());
      if (activate && !activated_) nn::apply_activation(*options_.loss, rows, outputs_);
    }
  });
  return result;
}

bool Evaluator::predicts_number() const { return nn::predicts_number(*options_.loss, outputs_); }

std::vector<float> Evaluator::to_probabilities(std::vector<float> outputs) const {
  const auto each = static_cast<std::size_t>(outputs_), classes = static_cast<std::size_t>(options_.classes);
  std::vector<float> probabilities(outputs.size() / each * classes);
  for (std::size_t i = 0; i * each < outputs.size(); ++i) {
    options_.loss->to_probabilities(std::span(outputs).subspan(i * each, each),
                                    std::span(probabilities).subspan(i * classes, classes));
  }
  return probabilities;
}

double Evaluator::loss(std::span<const float> outputs, std::size_t sample, std::int32_t label) const {
  const auto each = static_cast<std::size_t>(outputs_);
  const std::span<const float> prediction = outputs.subspan(sample * each, each);
  // A loss may clip its inputs and so hide such a value.
  return all_finite(prediction) ? options_.loss->of(prediction, label)
                                : std::numeric_limits<double>::infinity();
}

bool Evaluator::has_objective() const {
  const Settings options = own_loss_->settings();
  return !penalized_.empty() || number_at(options, "label_smoothing") > 0 ||
         !list_at(options, "class_weights").empty();
}

// The loss is a function of the inputs of the activation: log p is one of a softmax, log p / (1 - p) of a
// sigmoid.
double Evaluator::objective(std::span<const float> outputs, std::size_t sample, std::int32_t label,
                            float weight) const {
  const auto each = static_cast<std::size_t>(outputs_);
  const std::string_view activation = own_loss_->activation();
  std::vector<float> inputs;
  for (const float value : outputs.subspan(sample * each, each)) {
    if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
    const float p = std::max(value, std::numeric_limits<float>::min());
    inputs.push_back(activation == "softmax"   ? std::log(p)
                     : activation == "sigmoid" ? std::log(p) - std::log1p(-std::min(value, 1 - 6e-8F))
                                               : value);
  }
  const nn::LossInputs loss_inputs{.outputs = inputs.data(),
                                   .outputs_per_sample = outputs_,
                                   .labels = std::span(&label, 1),
                                   .sample_weights = std::span(&weight, 1),
                                   .batch = 1};
  return own_loss_->compute(loss_inputs, nullptr).loss + penalty_;
}

std::span<const std::uint32_t> part_of(const mpi::Communicator& group, std::span<const std::uint32_t> ids) {
  const auto rank = static_cast<std::size_t>(group.rank());
  const auto size = static_cast<std::size_t>(group.size());
  const std::size_t first = ids.size() * rank / size;
  return ids.subspan(first, ids.size() * (rank + 1) / size - first);
}

LossSum::LossSum(const Evaluator& evaluator, const data::Split& split)
    : evaluator_(&evaluator), split_(&split), differs_(evaluator.has_objective() || !split.weights.empty()) {}

void LossSum::add(std::span<const float> outputs, std::size_t row, std::uint32_t id) {
  const std::int32_t label = split_->labels[id];
  loss_.add(evaluator_->loss(outputs, row, label));
  if (!differs_) return;
  const float weight = split_->weights.empty() ? 1.0F : split_->weights[id];
  objective_.add(evaluator_->objective(outputs, row, label, weight));
}

Score LossSum::score(std::int64_t correct, std::int64_t samples, const mpi::Communicator& group) {
  group.sum(loss_.parts());
  if (differs_) group.sum(objective_.parts());
  if (samples == 0) return {};
  const auto n = static_cast<double>(samples);
  Score score{samples, static_cast<double>(correct) / n, loss_.value() / n};
  if (differs_) score.objective = objective_.value() / n;
  return score;
}

Score score(Evaluator& evaluator, const data::BatchLoader& loader, std::span<const std::uint32_t> ids,
            const mpi::Communicator& group) {
  const std::span<const std::uint32_t> mine = part_of(group, ids);
  const std::vector<float> outputs = mpi::together(group, [&] { return evaluator.outputs(loader, mine); });
  const std::vector<float> probabilities = evaluator.to_probabilities(outputs);
  const auto classes = static_cast<std::ptrdiff_t>(evaluator.classes());
  std::int64_t correct = 0;
  LossSum loss(evaluator, loader.split());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto row = probabilities.begin() + static_cast<std::ptrdiff_t>(i) * classes;
    const std::int32_t label = loader.split().labels[mine[i]];
    correct += std::max_element(row, row + classes) - row == label;
    loss.add(outputs, i, mine[i]);
  }
  group.sum(std::span(&correct, 1));
  return loss.score(correct, static_cast<std::int64_t>(ids.size()), group);
}

}  // namespace convoke::engine

#include "experiment.hpp"

#include "convoke/core/random.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/inference_graph.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

Batch::Batch(const Graph& graph, std::int64_t count, std::uint32_t first) {
  const auto classes = static_cast<std::uint64_t>(graph.output_shape().extents().back());
  for (std::uint32_t id = first; id < first + static_cast<std::uint32_t>(count); ++id) {
    RandomStream random({99, Purpose::kBench, 0, id});
    ids.push_back(id);
    labels.push_back(static_cast<std::int32_t>(random.below(classes)));
    for (std::int64_t i = 0; i < graph.input_shape().elements(); ++i) {
      if (graph.input_shape().type == ValueType::kToken) {
        tokens.push_back(static_cast<std::int32_t>(random.below(kVocabulary)));
      } else {
        input.push_back(static_cast<float>(random.normal()));
      }
    }
  }
}

AlignedBuffer<float> random_parameters(const ParameterLayout& layout, std::uint64_t seed) {
  AlignedBuffer<float> arena = initial_parameters(layout, seed);
  for (const ParameterSlot& slot : layout.slots()) {
    if (slot.spec.initializer == Initializer::kGlorotUniform) continue;
    RandomStream random({seed, Purpose::kBench, 0, std::hash<std::string>{}(slot.name)});
    std::vector<float> values(static_cast<std::size_t>(slot.spec.shape.elements()));
    const float center = slot.spec.initializer == Initializer::kOnes ? 1 : 0;
    for (float& value : values) value = center + static_cast<float>(random.uniform() - 0.5);
    layout.pack(slot, values, arena.span());
  }
  return arena;
}

reference::Parameters by_name(const ParameterLayout& layout, std::span<const float> arena) {
  reference::Parameters named;
  for (const ParameterSlot& slot : layout.slots()) {
    std::vector<float> values(static_cast<std::size_t>(slot.spec.shape.elements()));
    layout.unpack(slot, arena, values);
    named[slot.name].assign(values.begin(), values.end());
  }
  return named;
}

Experiment::Experiment(const Graph& graph, PlanOptions options, bool random)
    : layout(std::make_shared<ParameterLayout>(graph, options.micro_batch, options.convolution,
                                               options.precision, !options.post_ops, options.post_ops)),
      network(graph, layout, options),
      parameters(random ? random_parameters(*layout) : AlignedBuffer<float>(layout->size())),
      gradients(options.training ? layout->size() : 0),
      working(layout, parameters.data()) {
  network.bind(parameters.data(), options.training ? gradients.data() : nullptr, working.data());
}

Outcome Experiment::run(const Batch& batch, std::int64_t whole) {
  std::copy(batch.input.begin(), batch.input.end(), network.input().begin());
  std::copy(batch.tokens.begin(), batch.tokens.end(), network.tokens().begin());
  working.refresh();
  std::fill(gradients.span().begin(), gradients.span().end(), NAN);  // all of it must be overwritten
  network.forward(batch.key());
  Outcome outcome;
  outcome.output.assign(network.output().begin(), network.output().end());
  if (!network.options().training) return outcome;
  const LossSums result = network.loss(batch.labels, whole == 0 ? network.samples() : whole);
  outcome.loss = result.loss;
  outcome.correct = result.correct;
  network.backward([](std::size_t) {});
  outcome.gradients = by_name(*layout, gradients.span());
  for (const ParameterSlot& slot : layout->slots()) {
    if (slot.spec.frozen) outcome.gradients.erase(slot.name);
  }
  return outcome;
}

void Experiment::set(const std::string& parameter, const std::vector<float>& values) {
  layout->pack(layout->slot(parameter), values, parameters.span());
}

void copy_parameters(const Experiment& all, Experiment& part) {
  const reference::Parameters values = by_name(*all.layout, all.parameters.span());
  for (const ParameterSlot& slot : part.layout->slots()) {
    const auto& from = values.at(slot.name);
    part.set(slot.name, {from.begin(), from.end()});
  }
}

double difference(const std::vector<double>& actual, const std::vector<double>& expected, double floor) {
  REQUIRE(actual.size() == expected.size());
  double largest = floor, worst = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double d = std::abs(actual[i] - expected[i]);
    worst = d <= worst ? worst : d;  // NaN counts as the worst
    if (std::isnan(d)) return d;
  }
  return largest > 0 ? worst / largest : worst;
}

Outcome one_by_one(Experiment& one, const Graph& graph, std::int64_t micro_batch,
                   std::int64_t micro_batches) {
  Outcome sum;
  for (std::int64_t i = 0; i < micro_batches; ++i) {
    const Outcome part = one.run(Batch(graph, micro_batch, static_cast<std::uint32_t>(i * micro_batch)),
                                 micro_batches * micro_batch);
    sum.output.insert(sum.output.end(), part.output.begin(), part.output.end());
    sum.loss += part.loss;
    sum.correct += part.correct;
    for (const auto& [name, values] : part.gradients) {
      sum.gradients[name].resize(values.size());
      for (std::size_t k = 0; k < values.size(); ++k) sum.gradients[name][k] += values[k];
    }
  }
  return sum;
}

void check_equal(const Outcome& actual, const Outcome& expected, double tolerance) {
  CHECK(difference(actual.output, expected.output) <= tolerance);
  CHECK(std::abs(actual.loss - expected.loss) <= tolerance * (1 + std::abs(expected.loss)));
  CHECK(actual.correct == expected.correct);
  // A gradient that is zero except for rounding (a bias before a batch norm) is compared with the scale of
  // the others.
  double largest = 0;
  for (const auto& [name, values] : expected.gradients) {
    for (const double value : values) largest = std::max(largest, std::abs(value));
  }
  REQUIRE(actual.gradients.size() == expected.gradients.size());
  for (const auto& [name, values] : expected.gradients) {
    INFO("gradient of " << name);
    CHECK(difference(actual.gradients.at(name), values, 0.1 * largest) <= tolerance);
  }
}

namespace {

reference::Values values_of(const Graph& graph, const Batch& batch) {
  reference::Values x(static_cast<std::int64_t>(batch.labels.size()), graph.input_shape());
  std::copy(batch.input.begin(), batch.input.end(), x.data.begin());
  std::copy(batch.tokens.begin(), batch.tokens.end(), x.data.begin());
  return x;
}

// (L(w + h) - L(w - h)) / 2h = dL/dw + O(h^2) for a few weights of each parameter.
void check_reference(const Graph& graph, const Experiment& experiment, const Batch& batch,
                     const reference::Parameters& gradients) {
  reference::Model model(graph, experiment.network.options().micro_batch);
  model.parameters = by_name(*experiment.layout, experiment.parameters.span());
  const reference::Values x = values_of(graph, batch);
  const auto n = static_cast<double>(x.samples);
  const auto loss = [&] {
    model.forward(x, true, batch.key());
    return model.loss(batch.labels) / n;
  };
  constexpr double kStep = 1e-6;
  for (const ParameterSlot& slot : experiment.layout->slots()) {
    if (!slot.spec.trainable) continue;
    std::vector<double>& values = model.parameters.at(slot.name);
    for (std::size_t i = 0; i < values.size(); i += values.size() / 3 + 1) {
      const double before = values[i];
      values[i] = before + kStep;
      const double above = loss();
      values[i] = before - kStep;
      const double below = loss();
      values[i] = before;
      INFO(slot.name << "[" << i << "]");
      CHECK(gradients.at(slot.name)[i] == Approx((above - below) / (2 * kStep)).epsilon(1e-5).margin(1e-8));
    }
  }
}

}  // namespace

Outcome reference_outcome(const Graph& graph, const Experiment& experiment, const Batch& batch) {
  const PlanOptions& options = experiment.network.options();
  reference::Model model(graph, options.micro_batch);
  model.parameters = by_name(*experiment.layout, experiment.parameters.span());
  Outcome outcome;
  const reference::Values& output = model.forward(values_of(graph, batch), options.training, batch.key());
  outcome.output = output.data;
  if (!options.training) return outcome;
  const auto classes = static_cast<std::size_t>(output.shape.elements());
  for (std::size_t n = 0; n < batch.labels.size(); ++n) {
    const auto row = output.data.begin() + static_cast<std::ptrdiff_t>(n * classes);
    const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(classes)) - row;
    outcome.correct += best == batch.labels[n] ? 1 : 0;
  }
  outcome.loss = model.loss(batch.labels);
  outcome.gradients = model.backward(batch.labels, output.samples);
  return outcome;
}

Outcome folded_outcome(const Graph& graph, const Experiment& experiment, const Batch& batch) {
  const InferenceGraph folded(graph);
  const reference::Parameters named = by_name(*experiment.layout, experiment.parameters.span());
  std::vector<float> trained;
  for (const Node& node : graph.nodes()) {
    for (const ParameterSpec& spec : node.parameters) {
      const std::vector<double>& values = named.at(node.name + "." + spec.name);
      trained.insert(trained.end(), values.begin(), values.end());
    }
  }
  const std::vector<float> parameters = folded.parameters(trained);
  PlanOptions options = experiment.network.options();
  options.training = false;
  options.post_ops = true;
  Experiment fast(folded.graph(), options);
  std::span<const float> rest(parameters);
  for (const Node& node : folded.graph().nodes()) {
    for (const ParameterSpec& spec : node.parameters) {
      const auto size = static_cast<std::size_t>(spec.shape.elements());
      fast.layout->pack(fast.layout->slot(node.name + "." + spec.name), rest.first(size),
                        fast.parameters.span());
      rest = rest.subspan(size);
    }
  }
  REQUIRE(rest.empty());
  return fast.run(batch);
}

void check_graph(const Graph& graph, PlanOptions options, double tolerance) {
  // The reference is the same for every instruction set: see CMakeLists.txt.
  static const bool checks_reference = std::getenv("ONEDNN_MAX_CPU_ISA") == nullptr;
  const Batch batch(graph, options.micro_batch * options.micro_batches);
  for (const bool training : {true, false}) {
    INFO((training ? "training\n" : "inference\n") << graph.summary());
    options.training = training;
    Experiment experiment(graph, options);
    const Outcome expected = reference_outcome(graph, experiment, batch);
    check_equal(experiment.run(batch), expected, tolerance);
    check_equal(experiment.run(batch), expected, tolerance);  // a second run does not depend on the first
    if (training && checks_reference && graph.parameter_count() < 2000)
      check_reference(graph, experiment, batch, expected.gradients);
    if (!training) check_equal(folded_outcome(graph, experiment, batch), expected, tolerance);
  }
}

double rms_difference(const std::vector<double>& actual, const std::vector<double>& expected) {
  REQUIRE(actual.size() == expected.size());
  double error = 0, size = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    error += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return std::sqrt(error) / std::max(std::sqrt(size), 1e-3 * std::sqrt(static_cast<double>(actual.size())));
}

void check_bf16(const Graph& graph, PlanOptions options, double tolerance) {
  if (!backend().native_bf16 && !backend().emulates_bf16) return;
  options.precision = Precision::kBfloat16;
  const Batch batch(graph, options.micro_batch * options.micro_batches);
  for (const bool training : {true, false}) {
    options.training = training;
    Outcome last;
    for (const bool shared : {true, false}) {
      INFO("bf16, " << (training ? "training\n" : "inference\n") << graph.summary());
      options.working_weights = shared;
      Experiment experiment(graph, options);
      const Outcome actual = experiment.run(batch);
      if (!shared) {
        CHECK(actual.output == last.output);
        CHECK(actual.gradients == last.gradients);
        continue;
      }
      last = actual;
      const Outcome expected = reference_outcome(graph, experiment, batch);
      CHECK(rms_difference(actual.output, expected.output) < tolerance);
      if (!training) continue;
      CHECK(std::abs(actual.loss - expected.loss) < tolerance * (1 + std::abs(expected.loss)));
      for (const auto& [name, values] : expected.gradients) {
        INFO("gradient of " << name);
        CHECK(rms_difference(actual.gradients.at(name), values) < tolerance);
      }
    }
  }
}

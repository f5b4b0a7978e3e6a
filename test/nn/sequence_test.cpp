// embedding, lstm and gru.
#include <numeric>

#include "around.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/layers.hpp"
#include "experiment.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "nn/kernels/recurrent.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

constexpr PlanOptions kMicroBatches{.micro_batch = 2, .micro_batches = 2};

using Builder = Symbol (*)(Symbol, RecurrentOptions);
using MaskedBuilder = Symbol (*)(Symbol, Symbol, RecurrentOptions);
constexpr Builder kBuilders[] = {lstm, gru};
constexpr MaskedBuilder kMaskedBuilders[] = {lstm, gru};

/// Returns numbers (L, F) -> layer -> 3 classes.
Graph on_numbers(Builder layer, std::int64_t length, std::int64_t features, RecurrentOptions options) {
  Graph graph({length, features});
  Symbol x = layer(input(graph), options);
  dense(options.sequences ? flatten(x) : x, {.units = 3});
  return graph;
}

/// Returns tokens (L) -> embedding -> masked layer -> 3 classes.
Graph on_tokens(MaskedBuilder layer, std::int64_t length, std::int64_t features, RecurrentOptions options) {
  Graph graph(tokens(length));
  const Symbol x = embedding(input(graph), {.vocabulary = 4, .units = features});
  const Symbol y = layer(x, input(graph), options);
  dense(options.sequences ? flatten(y) : y, {.units = 3});
  return graph;
}

template <class Check>
void for_each_form(const Check& check) {
  for (const bool sequences : {false, true}) {
    for (const bool both : {false, true})
      check(RecurrentOptions{.units = 5, .sequences = sequences, .bidirectional = both});
  }
}

}  // namespace

TEST_CASE("embedding: widths, several micro-batches, rows that no token uses") {
  for (const std::int64_t units : {1, 3, 16, 20}) {
    Graph graph(tokens(5));
    dense(flatten(tanh(embedding(input(graph), {.vocabulary = 6, .units = units}))), {.units = 3});
    check_graph(graph);
    check_graph(graph, kMicroBatches);
    check_bf16(graph, kMicroBatches);
  }
}

TEST_CASE("embedding returns the rows of the tokens, as Keras' does") {
  // keras.layers.Embedding is the table: y[n, l] = weight[x[n, l]].
  Graph graph(tokens(3));
  flatten(embedding(input(graph), {.vocabulary = 4, .units = 2}));
  Experiment experiment(graph, {.micro_batch = 1, .training = false});
  const std::vector<double> weight =
      by_name(*experiment.layout, experiment.parameters.span()).at("embedding_1.weight");
  Batch batch(graph, 1);
  batch.tokens = {3, 0, 3};
  CHECK(experiment.run(batch).output ==
        std::vector<double>{weight[6], weight[7], weight[0], weight[1], weight[6], weight[7]});
}

TEST_CASE("a step refuses tokens outside the vocabulary") {
  Graph graph(tokens(3));
  dense(flatten(embedding(input(graph), {.vocabulary = 4, .units = 2})), {.units = 2});
  Experiment experiment(graph, {.micro_batch = 2});
  Batch batch(graph, 2, 40);
  for (const std::int32_t bad : {4, -1}) {
    batch.tokens = {0, 1, 2, 3, bad, 0};
    CHECK(error_of([&] { experiment.run(batch); }) == "embedding_1: sample 41 has token " +
                                                          std::to_string(bad) +
                                                          " at position 1, but the vocabulary is 0..3");
  }
}

TEST_CASE("lstm and gru on numbers: features, units, lengths, without bias") {
  for (const Builder layer : kBuilders) {
    check_graph(on_numbers(layer, 1, 3, {.units = 4, .sequences = true}));
    check_graph(on_numbers(layer, 5, 1, {.units = 1}), {.micro_batch = 1});
    check_graph(on_numbers(layer, 3, 2, {.units = 3, .sequences = true, .bias = false}), kMicroBatches);
    for (const std::int64_t width : {3, 16, 20})
      check_graph(on_numbers(layer, 2, width, {.units = width}), {.micro_batch = 1, .micro_batches = 2});
    for_each_form([&](const RecurrentOptions& options) { check_graph(on_numbers(layer, 4, 3, options)); });
  }
}

TEST_CASE("lstm and gru after an embedding, each other and an activation") {
  for (const Builder layer : kBuilders) {
    Graph graph(tokens(4));
    Symbol x = embedding(input(graph), {.vocabulary = 4, .units = 3});
    x = layer(tanh(layer(x, {.units = 4, .sequences = true, .bidirectional = true})), {.units = 3});
    dense(x, {.units = 3});
    check_graph(graph);
    check_bf16(graph, kMicroBatchOf3, 0.06);  // rounding accumulates over three layers
  }
}

TEST_CASE("lstm and gru compute equal rows of an embedding once, in one piece and several, or all rows",
          "[rows]") {
  const auto graph_of = [](Builder layer, std::int64_t vocabulary, std::int64_t length, double dropout) {
    Graph graph(tokens(length));
    const Symbol x = embedding(input(graph), {.vocabulary = vocabulary, .units = 3});
    dense(layer(x, {.units = 4, .bidirectional = true, .dropout = dropout}), {.units = 3});
    return graph;
  };
  for (const Builder layer : kBuilders) {
    for (const double dropout : {0.0, 0.4}) {
      for (const std::int64_t length : {31, 60})
        check_graph(graph_of(layer, 4, length, dropout), {.micro_batch = 2});
      check_bf16(graph_of(layer, 4, 31, dropout), {.micro_batch = 2});

      const Graph graph = graph_of(layer, 24, 12, dropout);
      Experiment experiment(graph, {.micro_batch = 2});
      Batch batch(graph, 2);
      std::iota(batch.tokens.begin(), batch.tokens.end(), 0);
      check_equal(experiment.run(batch), reference_outcome(graph, experiment, batch), 2e-5);
    }
  }
}

TEST_CASE("lstm and gru skip masked time steps in any position") {
  for (const MaskedBuilder layer : kMaskedBuilders) {
    for_each_form([&](const RecurrentOptions& options) {
      check_graph(on_tokens(layer, 4, 2, options));
      check_graph(on_tokens(layer, 9, 2, options), {.micro_batch = 1});  // time steps without any sample
    });
    Graph graph(tokens(5));  // two layers, both masked
    Symbol x = embedding(input(graph), {.vocabulary = 4, .units = 3});
    x = layer(x, input(graph), {.units = 3, .sequences = true});
    dense(layer(x, input(graph), {.units = 4}), {.units = 3});
    check_graph(graph, kMicroBatches);
  }
}

TEST_CASE("lstm and gru compute padding once, or not if it is masked") {
  const bool has_bf16 = backend().native_bf16 || backend().emulates_bf16;
  const auto padded = [](const Graph& graph, bool behind) {
    Batch batch(graph, 4);
    for (std::int32_t& token : batch.tokens) token = std::max(token, 1);
    const auto pad = [&](int sample, int first, int count) {
      std::fill_n(batch.tokens.begin() + 12 * sample + first, count, 0);
    };
    pad(0, behind ? 10 : 0, 2), pad(1, 0, 7), pad(1, 9, 1), pad(2, 0, 12), pad(3, 0, 2), pad(3, 3, 9);
    return batch;
  };
  const auto check = [&](const Graph& graph) {
    Experiment training(graph, {.micro_batch = 4}), inference(graph, {.micro_batch = 4, .training = false});
    std::optional<Experiment> stored;  // in bf16, of the same parameters
    if (has_bf16) stored.emplace(graph, PlanOptions{.micro_batch = 4, .precision = Precision::kBfloat16});
    for (const bool behind : {false, true}) {
      const Batch batch = padded(graph, behind);
      const Outcome expected = reference_outcome(graph, training, batch);
      check_equal(training.run(batch), expected, 2e-5);
      check_equal(inference.run(batch), reference_outcome(graph, inference, batch), 2e-5);
      if (!has_bf16) continue;
      const Outcome actual = stored->run(batch);
      for (const auto& [name, values] : expected.gradients)
        CHECK(rms_difference(actual.gradients.at(name), values) < 0.04);
    }
  };
  for (const std::size_t i : {0U, 1U}) {
    for_each_form([&](RecurrentOptions options) {
      Graph graph(tokens(12));
      const Symbol y = kBuilders[i](embedding(input(graph), {.vocabulary = 4, .units = 3}), options);
      dense(options.sequences ? flatten(y) : y, {.units = 3});
      check(graph);
      check(on_tokens(kMaskedBuilders[i], 12, 2, options));
      options.dropout = 0.3;
      check(on_tokens(kMaskedBuilders[i], 12, 2, options));
    });
  }
}

TEST_CASE("lstm and gru: dropout of input and state, one mask for all time steps") {
  for (const MaskedBuilder layer : kMaskedBuilders) {
    for (const bool both : {false, true}) {
      check_graph(on_tokens(
          layer, 4, 2,
          {.units = 3, .sequences = both, .bidirectional = both, .dropout = 0.3, .recurrent_dropout = 0.4}));
    }
    check_graph(on_tokens(layer, 3, 20, {.units = 2, .dropout = 0.5}), {.micro_batch = 2});
    check_graph(on_tokens(layer, 3, 2, {.units = 20, .recurrent_dropout = 0.5}), {.micro_batch = 2});
  }
  for (const Builder layer : kBuilders)
    check_graph(on_numbers(layer, 4, 3, {.units = 5, .dropout = 0.3, .recurrent_dropout = 0.4}),
                kMicroBatches);
}

TEST_CASE("lstm and gru in bf16") {
  for (const Builder layer : kBuilders) {
    check_bf16(on_numbers(layer, 4, 3, {.units = 5, .sequences = true}), kMicroBatches);
    check_bf16(on_numbers(layer, 2, 20, {.units = 16, .bias = false}), {.micro_batch = 2});
  }
  for (const MaskedBuilder layer : kMaskedBuilders) {
    check_bf16(on_tokens(layer, 4, 3, {.units = 4, .bidirectional = true}), kMicroBatches);
    check_bf16(on_tokens(layer, 4, 3, {.units = 4, .dropout = 0.2, .recurrent_dropout = 0.2}), kMicroBatches);
  }
}

TEST_CASE("the cell's sigmoid and tanh, over their whole range and for NaN") {
  const std::vector<float> inputs{-1e30F, -100, -88, -20, -3.5F, -1e-4F,   0,
                                  1e-4F,  0.7F, 9,   50,  200,   INFINITY, NAN};
  const std::size_t units = inputs.size();
  std::vector<float> gates(4 * units), product, h(units), c(units);
  const std::vector<float> zeros(units), before(units, 0.5F);
  for (int gate = 0; gate < 4; ++gate) product.insert(product.end(), inputs.begin(), inputs.end());
  RecurrentStep<float> step;
  step.samples = 1;
  step.units = static_cast<std::int64_t>(units);
  step.input = step.gates = gates.data();
  step.product = product.data();
  step.h_before = zeros.data();
  step.h = h.data();
  step.c_before = before.data();
  step.c = c.data();
  kernels<RecurrentKernels<float>>().lstm_forward(step);
  for (std::size_t u = 0; u + 1 < units; ++u) {
    const double x = inputs[u], sigmoid = 1 / (1 + std::exp(-x)), cell = sigmoid * (0.5 + std::tanh(x));
    INFO(x);
    CHECK(std::abs(gates[u] - sigmoid) < 2e-7);
    CHECK(std::abs(gates[2 * units + u] - std::tanh(x)) < 3e-7);
    CHECK(std::abs(h[u] - sigmoid * std::tanh(cell)) < 5e-7);
  }
  CHECK(std::isnan(h[units - 1]));
  CHECK(std::isnan(c[units - 1]));
}

namespace {

// Keras 3.15 on TensorFlow 2.21; PyTorch 2.15 gives the same without masks (nn.GRU with gates r, z, n).
//
//   def wave(k, *s): return (0.6 * np.sin(0.7 * np.arange(np.prod(s)) + k)).reshape(s).astype('float32')
//   U, F, V = 3, 2, 7;  T = np.array([[0, 0, 3, 1, 5], [2, 6, 0, 4, 0]])
//   x = Input((5,), dtype='int32');  e = Embedding(V, F, mask_zero=mask);  h = e(x)
//   cell = (LSTM if G == 4 else GRU)(U, return_sequences=sequences)
//   layer = Bidirectional(cell) if both else cell
//   m = Model(x, layer(h));  e.set_weights([wave(0, V, F)]);  w = []
//   for k in (0, 10)[:2 if both else 1]:
//     b, rb = wave(k + 3, G * U), wave(k + 4, G * U)
//     w += [wave(k + 1, G * U, F).T, wave(k + 2, G * U, U).T, b if G == 4 else np.stack([b, rb])]
//   layer.set_weights(w);  print(m(T).numpy())
std::vector<double> golden_case(MaskedBuilder layer, bool sequences, bool both) {
  Graph graph(tokens(5));
  const Symbol x = embedding(input(graph), {.vocabulary = 7, .units = 2});
  const RecurrentOptions options{.units = 3, .sequences = sequences, .bidirectional = both};
  flatten(layer(x, input(graph), options));
  Experiment experiment(graph, {.micro_batch = 2, .training = false});
  for (const ParameterSlot& slot : experiment.layout->slots()) {
    double phase = slot.spec.name.starts_with("backward_") ? 10 : 0;  // the wave's k
    for (const auto& [name, more] :
         {std::pair{"weight", 1}, {"recurrent_weight", 1}, {"bias", 3}, {"recurrent_bias", 1}}) {
      if (slot.node > 1 && slot.spec.name.ends_with(name)) phase += more;
    }
    std::vector<float> values(static_cast<std::size_t>(slot.spec.shape.elements()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(0.6 * std::sin(0.7 * static_cast<double>(i) + phase));
    experiment.layout->pack(slot, values, experiment.parameters.span());
  }
  Batch batch(graph, 2);
  batch.tokens = {0, 0, 3, 1, 5, 2, 6, 0, 4, 0};
  return experiment.run(batch).output;
}

constexpr double kGolden = 5e-6;  // six digits after the decimal point

}  // namespace

TEST_CASE("lstm equals Keras' and PyTorch's: masked, bidirectional") {
  CHECK(difference(golden_case(lstm, true, false),
                   {0.000000, 0.000000, 0.000000, 0.000000, 0.000000, 0.000000,  0.080024, 0.110386,
                    0.098485, 0.188710, 0.033474, 0.069238, 0.208918, -0.000032, 0.076950, 0.131042,
                    0.100510, 0.047020, 0.225459, 0.054340, 0.061801, 0.225459,  0.054340, 0.061801,
                    0.204956, 0.082177, 0.121329, 0.204956, 0.082177, 0.121329}) < kGolden);
  CHECK(difference(golden_case(lstm, true, true),
                   {0.000000,  0.000000,  0.000000,  0.000000,  0.000000,  0.000000,  0.000000,  0.000000,
                    0.000000,  0.000000,  0.000000,  0.000000,  0.080024,  0.110386,  0.098485,  -0.375302,
                    -0.264372, 0.009283,  0.188710,  0.033474,  0.069238,  -0.047640, -0.044591, -0.269243,
                    0.208918,  -0.000032, 0.076950,  -0.026118, -0.044522, -0.245119, 0.131042,  0.100510,
                    0.047020,  -0.277861, -0.248545, 0.032519,  0.225459,  0.054340,  0.061801,  -0.168697,
                    -0.193895, -0.066354, 0.000000,  0.000000,  0.000000,  0.000000,  0.000000,  0.000000,
                    0.204956,  0.082177,  0.121329,  -0.222762, -0.236195, -0.036780, 0.000000,  0.000000,
                    0.000000,  0.000000,  0.000000,  0.000000}) < kGolden);
  CHECK(difference(golden_case(lstm, false, true),
                   {0.208918, -0.000032, 0.076950, -0.375302, -0.264372, 0.009283, 0.204956, 0.082177,
                    0.121329, -0.277861, -0.248545, 0.032519}) < kGolden);
}

TEST_CASE("gru equals Keras' and PyTorch's: masked, bidirectional") {
  CHECK(difference(golden_case(gru, true, false),
                   {0.000000, 0.000000, 0.000000,  0.000000, 0.000000, 0.000000,  0.533814, 0.660951,
                    0.226091, 0.538973, -0.035430, 0.479708, 0.506673, -0.019559, 0.519496, 0.376494,
                    0.438814, 0.202441, 0.471107,  0.175329, 0.394330, 0.471107,  0.175329, 0.394330,
                    0.587843, 0.552879, 0.507308,  0.587843, 0.552879, 0.507308}) < kGolden);
  CHECK(difference(
            golden_case(gru, true, true),
            {0.000000,  0.000000,  0.000000,  0.000000,  0.000000,  0.000000,  0.000000,  0.000000,  0.000000,
             0.000000,  0.000000,  0.000000,  0.533814,  0.660951,  0.226091,  -0.333483, -0.256720, 0.090301,
             0.538973,  -0.035430, 0.479708,  -0.209443, -0.022909, -0.126123, 0.506673,  -0.019559, 0.519496,
             -0.133567, -0.021593, -0.077782, 0.376494,  0.438814,  0.202441,  -0.403911, -0.259545, 0.005936,
             0.471107,  0.175329,  0.394330,  -0.290973, -0.158927, -0.031230, 0.000000,  0.000000,  0.000000,
             0.000000,  0.000000,  0.000000,  0.587843,  0.552879,  0.507308,  -0.182175, -0.149311, 0.006323,
             0.000000,  0.000000,  0.000000,  0.000000,  0.000000,  0.000000}) < kGolden);
  CHECK(difference(golden_case(gru, false, true),
                   {0.506673, -0.019559, 0.519496, -0.333483, -0.256720, 0.090301, 0.587843, 0.552879,
                    0.507308, -0.403911, -0.259545, 0.005936}) < kGolden);
}

TEST_CASE("recurrent layers refuse inputs that do not fit, and name the shapes") {
  CHECK(refusal(tokens(7), [](Symbol x) { lstm(x, {.units = 2}); }) ==
        "lstm_1 (lstm): needs sequences of numbers (N, L, F), but its input is (N, 7) of tokens | "
        "put an embedding layer before it");
  CHECK(refusal({3, 8, 8}, [](Symbol x) { gru(x, {.units = 2}); }) ==
        "gru_1 (gru): needs sequences (N, L, F), but its input is (N, 3, 8, 8) | "
        "set sequences = true on a recurrent layer before it; reshape turns other values into sequences");
  CHECK(refusal({5, 2}, [](Symbol x) { lstm(x, x, {.units = 2}); }) ==
        "lstm_1 (lstm): its second input masks padding and must be tokens (N, 5) for sequences (N, 5, 2), "
        "but is (N, 5, 2) | name the network's input of tokens: inputs = [\"embedding_1\", \"input\"]");
  CHECK(refusal({4}, [](Symbol x) { embedding(x, {.vocabulary = 3, .units = 2}); }) ==
        "embedding_1 (embedding): needs tokens (N, L), but its input is (N, 4) | "
        "make it the first layer of a network whose input is tokens; use dense or conv2d for numbers");
  CHECK_THAT(error_of_layer({{"layer", "lstm"}, {"units", 0}}),
             Contains("\"units\" must be at least 1, but is 0"));
  CHECK_THAT(error_of_layer({{"layer", "gru"}, {"units", 2}, {"recurrent_dropout", 1}}),
             Contains("\"recurrent_dropout\" must be at least 0 and below 1, but is 1"));
  CHECK_THAT(error_of_layer({{"layer", "embedding"}, {"vocabulary", 0}, {"units", 2}}),
             Contains("\"vocabulary\" must be at least 1, but is 0"));
}

TEST_CASE("initial values: uniform, orthogonal, bias 1 of the forget gates") {
  Graph graph(tokens(3));
  lstm(embedding(input(graph), {.vocabulary = 50, .units = 4}), {.units = 5});
  const ParameterLayout layout(graph, 2);
  const AlignedBuffer<float> arena = initial_parameters(layout, 3);
  const reference::Parameters values = by_name(layout, arena.span());
  double sum = 0, largest = 0;
  for (const double value : values.at("embedding_1.weight")) {
    sum += value;
    largest = std::max(largest, std::abs(value));
  }
  CHECK(largest <= 0.05);
  CHECK(largest > 0.045);
  CHECK(std::abs(sum / 200) < 0.01);
  std::vector<double> bias(20, 0);
  std::fill(bias.begin() + 5, bias.begin() + 10, 1);
  CHECK(values.at("lstm_1.bias") == bias);
}

// Layers that join, cut and reorder values. Golden values are from Keras 3 on the TensorFlow backend (3.15.1)
// and PyTorch.
#include "around.hpp"
#include "convoke/nn/layer_table.hpp"
#include "golden.hpp"
#include "nn/kernels/elementwise.hpp"
#include "nn/kernels/instruction_sets.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

/// Returns a smaller width for many channels, because the reference differentiates by every element.
std::int64_t width_of(std::int64_t channels) { return channels < 10 ? 2 : 1; }

/// Checks `body` of the network's input alone, and of two branches of `channels` channels (to check
/// gradients), before a dense layer of 3 classes.
template <class Body>
void check(std::int64_t channels, std::int64_t height, std::int64_t width, const Body& body) {
  Graph graph({2, height, width});
  const Symbol x = conv2d(input(graph), {.filters = channels, .kernel = 1});
  const Symbol y = tanh(conv2d(input(graph), {.filters = channels, .kernel = 1}));
  dense(flatten(body(x, y)), {.units = 3});
  check_graph(graph, kMicroBatchOf2);
}

/// Checks such a body of images of three rows.
template <class Body>
void check(std::int64_t channels, const Body& body) {
  check(channels, 3, width_of(channels), body);
}

/// Checks the same with one branch.
template <class Body>
void check_one(std::int64_t channels, std::int64_t height, std::int64_t width, const Body& body) {
  check_graph(around(channels, height, width, body), kMicroBatchOf2);
}

template <class Body>
void check_first(const Shape& shape, const Body& body) {
  check_graph(as_first(shape, body), kMicroBatchOf2);
}

/// Checks smooth bodies in blocked layouts and with odd channels. Three samples are few (the reference is
/// slow): where sums of gradients cancel, bf16's rounding is up to 5 % of the result.
template <class Body>
void check_bf16_of(std::int64_t channels, const Body& body) {
  Graph graph({3, 4, 4});
  const Symbol x = conv2d(input(graph), {.filters = channels, .kernel = 3});
  const Symbol y = tanh(conv2d(input(graph), {.filters = channels, .kernel = 3}));
  softmax(dense(tanh(dense(flatten(body(x, y)), {.units = 20})), {.units = 5}));
  check_bf16(graph, {.micro_batch = 3}, 0.06);
}

/// Returns the output of a graph without parameters for one sample.
template <class Body>
std::vector<double> result(const Shape& shape, const std::vector<float>& values, const Body& body) {
  Graph graph(shape);
  flatten(body(input(graph)));
  return evaluate(graph, {values.begin(), values.end()});
}

void check_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  CHECK(difference(actual, expected) < 1e-5);  // golden values have six digits
}

Symbol part(Symbol x, std::int64_t begin, std::int64_t size) {
  return slice(x, {.begin = begin, .size = size});
}

std::vector<float> from_zero(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i);
  return values;
}

}  // namespace

TEST_CASE("subtract, average, maximum, multiply of one shape") {
  for (const std::int64_t channels : {3, 16, 20}) {
    check(channels, [](Symbol x, Symbol y) { return subtract(x, y); });
    check(channels, [](Symbol x, Symbol y) { return average({x, y, tanh(x)}); });
    check(channels, [](Symbol x, Symbol y) { return maximum({x, y, subtract(y, x)}); });
    check(channels, [](Symbol x, Symbol y) { return multiply({x, y, x}); });
    check(channels, [](Symbol x, Symbol y) { return subtract(flatten(x), flatten(y)); });
    // With one input used twice, and with the network's input.
    check_first({channels, 3, 2}, [](Symbol x) { return multiply({x, x}); });
    check_first({channels, 3, 2}, [&](Symbol x) {
      const Symbol y = conv2d(x, {.filters = channels, .kernel = 1});
      return add(subtract(y, x), add(maximum({x, y}), average({x, multiply({x, y})})));
    });
    check_first({channels}, [&](Symbol x) { return subtract(x, dense(x, {.units = channels})); });
  }
}

TEST_CASE("multiply scales the channels of images and sequences") {
  for (const std::int64_t channels : {3, 16, 20}) {
    check(channels, [&](Symbol x, Symbol y) {
      const Symbol gate = sigmoid(dense(global_average_pool(y), {.units = channels}));
      return multiply({gate, x});
    });
    check(channels, [&](Symbol x, Symbol y) {
      const Symbol gate = average_pool(y, {.size = {3, width_of(channels)}});  // (C, 1, 1)
      return multiply({x, gate, y, gate});
    });
    check(channels, 1, 1, [](Symbol x, Symbol y) { return multiply({x, flatten(y)}); });
    check_first({channels, 3, 2}, [](Symbol x) { return multiply({x, global_average_pool(x)}); });
    check_first({5, channels}, [&](Symbol x) {
      return multiply({x, dense(flatten(x), {.units = channels})});
    });
  }
  // A vector that is a flattened image.
  check(4, 2, 2, [](Symbol x, Symbol y) {
    return multiply({conv2d(x, {.filters = 16, .kernel = 1}), flatten(y)});
  });
}

TEST_CASE("the sums over pixels of a product, plain and blocked, equal a loop") {
  for (const auto& [outer, block] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{5, 1}, {2, 16}, {1, 5}}) {
    ChannelBlocks blocks{
        .samples = 2, .channels = 5, .outer = outer, .height = 3, .width = 7, .block = block};
    const auto n = static_cast<std::size_t>(2 * blocks.sample_size());
    const auto gates = static_cast<std::size_t>(2 * blocks.padded_channels());
    const std::vector<float> x = from_zero(n), s = from_zero(gates);
    std::vector<float> dy(n, 0.5F), dx(n), ds(gates);
    kernels<MergeKernels<float>>().multiply_channels_backward(blocks, x.data(), s.data(), dy.data(),
                                                              dx.data(), ds.data());
    std::vector<double> expected(gates);
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t per_outer = 21 * block, at = static_cast<std::int64_t>(i);
      const std::int64_t gate = at / per_outer * block + at % block;
      expected[static_cast<std::size_t>(gate)] += 0.5 * x[i];
      CHECK(dx[i] == 0.5F * s[static_cast<std::size_t>(gate)]);
    }
    for (std::size_t i = 0; i < gates; ++i) CHECK(ds[i] == Approx(expected[i]));
  }
}

TEST_CASE("add accepts inputs of any layout") {
  check_first({16, 4, 4}, [](Symbol x) { return add(x, conv2d(x, {.filters = 16, .kernel = 1})); });
  check_first({20, 4, 3}, [](Symbol x) {
    return add(flatten(x), flatten(reshape(conv2d(x, {.filters = 20, .kernel = 1}), {10, 4, 6})));
  });
  check_first({3, 4, 4}, [](Symbol x) {
    const Symbol y = conv2d(x, {.filters = 16, .kernel = 1});
    const Symbol z = conv2d(x, {.filters = 64, .kernel = 1, .stride = 2});
    return add(flatten(y), flatten(z));  // (16, 4, 4) and (64, 2, 2), both blocked
  });
}

TEST_CASE("concat of images along channels, height and width") {
  for (const std::int64_t channels : {3, 16, 20}) {
    check(channels, [](Symbol x, Symbol y) { return concat({x, y}); });
    check(channels, [](Symbol x, Symbol y) { return concat({x, y, x, tanh(y)}); });
    check(channels, [](Symbol x, Symbol y) { return concat({x, conv2d(y, {.filters = 16, .kernel = 1})}); });
    check(channels, [](Symbol x, Symbol y) { return concat({x, y}, {"height"}); });
    check(channels, [](Symbol x, Symbol y) { return concat({x, y, x}, {"width"}); });
    check_first({channels, 2, 3}, [](Symbol x) {
      return concat({x, conv2d(x, {.filters = 5, .kernel = 1})});
    });
  }
  // A dense block: every layer reads all layers before it.
  check(16, 3, 3, [](Symbol x, Symbol y) {
    for (int i = 0; i < 3; ++i)
      x = concat({x, conv2d(tanh(batch_norm(x)), {.filters = 12, .kernel = 3, .padding = Padding::same()})});
    return concat({y, x});
  });
}

TEST_CASE("concat of vectors and sequences") {
  for (const std::int64_t channels : {3, 16, 20}) {
    check(channels, 2, 2, [](Symbol x, Symbol y) { return concat({flatten(x), flatten(y)}); });
    check(channels, 2, 2, [](Symbol x, Symbol y) {
      return concat({global_average_pool(x), dense(flatten(y), {.units = 7})});
    });
    check_first({channels}, [](Symbol x) { return concat({x, dense(x, {.units = 4})}, {"features"}); });
    check_first({5, channels}, [&](Symbol x) {
      const Symbol y = reshape(dense(flatten(x), {.units = 5 * channels}), {5, channels});
      return concat({flatten(concat({x, y}, {"time"})), flatten(concat({y, x}))});
    });
  }
}

TEST_CASE("slice and split along every axis") {
  for (const std::int64_t channels : {3, 16, 20}) {
    check(channels, 2, 4, [](Symbol x, Symbol y) {
      return concat({part(x, 1, 2), part(y, 0, 0), part(x, 2, 1)});
    });
    check(channels, 2, 4, [](Symbol x, Symbol y) {
      return add(slice(x, {.axis = {"width"}, .begin = 1, .size = 2}),
                 slice(tanh(y), {.axis = {"width"}, .begin = 2}));
    });
    check_one(channels, 3, 2, [](Symbol x) { return slice(x, {.axis = {"height"}, .begin = 1}); });
    check_one(channels, 2, 2, [](Symbol x) { return slice(flatten(x), {.begin = 3, .size = 5}); });
    check_first({channels, 2, 2}, [](Symbol x) { return slice(x, {.begin = 1}); });
    check_first({5, channels}, [](Symbol x) {
      const Symbol y = slice(x, {.axis = {"time"}, .begin = 1, .size = 3});
      return slice(y, {.axis = {"features"}, .begin = 1, .size = 2});
    });
  }
  check(32, 3, 3, [](Symbol x, Symbol y) {
    const std::vector<Symbol> halves = split(x, 2);
    return concat({multiply({halves[0], part(y, 3, 16)}), halves[1]});
  });
}

TEST_CASE("channel_shuffle, permute, reshape, identity") {
  for (const std::int64_t channels : {6, 16, 24}) {
    check(channels, [](Symbol x, Symbol y) { return channel_shuffle(multiply({x, y}), 2); });
    check_one(channels, 3, width_of(channels), [&](Symbol x) { return channel_shuffle(x, channels / 2); });
    check_one(channels, 1, 1, [](Symbol x) { return channel_shuffle(flatten(x), 2); });
    check_first({5, channels}, [](Symbol x) { return channel_shuffle(x, 2); });
    check(channels, [](Symbol x, Symbol y) { return identity(add(identity(x), identity(y))); });
    for (const std::vector<std::int64_t>& dims : std::vector<std::vector<std::int64_t>>{
             {1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}}) {
      check_one(channels, 3, width_of(channels), [&](Symbol x) { return permute(x, dims); });
      check_first({channels, 3, 2}, [&](Symbol x) { return tanh(permute(x, dims)); });
    }
    check_first({5, channels}, [](Symbol x) { return permute(x, {2, 1}); });
    check_one(channels, 3, width_of(channels), [&](Symbol x) {
      return reshape(x, {3, width_of(channels), channels});
    });
    check_one(channels, 3, width_of(channels), [&](Symbol x) {
      return permute(reshape(x, {channels, -1}), {2, 1});
    });
    check_one(channels, 3, width_of(channels), [&](Symbol x) {
      return reshape(reshape(x, {-1}), {2, -1, 3});
    });
    check_first({5, channels}, [](Symbol x) { return reshape(x, {-1, 5, 1}); });
  }
}

TEST_CASE("structure in bf16") {
  for (const std::int64_t channels : {3, 16, 20}) {
    check_bf16_of(channels, [](Symbol x, Symbol y) { return subtract(average({x, y}), multiply({x, y})); });
    check_bf16_of(channels, [&](Symbol x, Symbol y) {
      return multiply({x, sigmoid(dense(global_average_pool(y), {.units = channels}))});
    });
    check_bf16_of(channels, [](Symbol x, Symbol y) { return concat({x, y, tanh(x)}); });
    check_bf16_of(channels, [](Symbol x, Symbol y) {
      return concat({x, slice(y, {.axis = {"height"}, .begin = 1})}, {"height"});
    });
    check_bf16_of(channels, [](Symbol x, Symbol y) { return add(part(x, 1, 2), part(y, 0, 2)); });
    check_bf16_of(channels, [](Symbol x, Symbol y) { return permute(add(x, y), {2, 3, 1}); });
    check_bf16_of(channels, [](Symbol x, Symbol y) { return reshape(identity(add(x, y)), {4, -1}); });
  }
  check_bf16_of(24, [](Symbol x, Symbol y) { return channel_shuffle(add(x, y), 3); });
  Graph graph({16, 2, 2});  // the network's input remains fp32
  const Symbol x = input(graph), y = conv2d(x, {.filters = 16, .kernel = 1});
  softmax(dense(flatten(add(concat({x, y}), concat({y, x}))), {.units = 5}));
  check_bf16(graph, {.micro_batch = 3}, 0.06);
}

// s = np.arange(6, dtype="f4").reshape(1, 3, 2); x = np.arange(12, dtype="f4").reshape(1, 2, 2, 3)
TEST_CASE("concat of sequences, permute and reshape equal Keras', channel_shuffle equals PyTorch's") {
  const auto of_s = [](const auto& body) { return result({3, 2}, from_zero(6), body); };
  const auto of_x = [](const auto& body) { return result({2, 2, 3}, from_zero(12), body); };
  const auto of_pixel = [](const auto& body) { return result({6, 1, 1}, from_zero(6), body); };
  const auto negative = [](Symbol x) { return subtract(subtract(x, x), x); };
  // L.Concatenate(axis=1)([s, -s[:, :1]])
  check_near(of_s([&](Symbol x) {
               return concat({x, negative(slice(x, {.axis = {"time"}, .size = 1}))}, {"time"});
             }),
             {0, 1, 2, 3, 4, 5, 0, -1});
  // L.Concatenate()([s, -s])
  check_near(of_s([&](Symbol x) {
               return concat({x, negative(x)});
             }),
             {0, 1, 0, -1, 2, 3, -2, -3, 4, 5, -4, -5});
  // L.Permute((2, 1))(s); L.Permute((3, 1, 2))(x) and L.Reshape((-1, 4))(x), rows in their order in memory
  check_near(of_s([](Symbol x) { return permute(x, {2, 1}); }), {0, 2, 4, 1, 3, 5});
  check_near(of_x([](Symbol x) { return permute(x, {3, 1, 2}); }), {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
  check_near(of_x([](Symbol x) { return reshape(x, {-1, 4}); }), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  // torch.nn.ChannelShuffle(groups)(torch.arange(6.).view(1, 6, 1, 1))
  check_near(of_pixel([](Symbol x) { return channel_shuffle(x, 2); }), {0, 3, 1, 4, 2, 5});
  check_near(of_pixel([](Symbol x) { return channel_shuffle(x, 3); }), {0, 2, 4, 1, 3, 5});
}

TEST_CASE("maximum passes on a NaN in any input; of equal inputs the first gets the gradient") {
  const std::vector<float> a{1, NAN, 3, 2}, b{NAN, 1, 3, 5};
  const float* inputs[] = {a.data(), b.data()};
  std::vector<float> y(4);
  std::vector<std::uint8_t> winners(4);
  kernels<MergeKernels<float>>().maximum(inputs, 2, y.data(), winners.data(), 4);
  CHECK(std::isnan(y[0]));
  CHECK(std::isnan(y[1]));
  CHECK(y[2] == 3);
  CHECK(y[3] == 5);
  CHECK(winners[2] == 0);
  CHECK(winners[3] == 1);
}

TEST_CASE("numbers whose products or sums exceed 64 bits are refused") {
  constexpr std::int64_t kLarge = std::int64_t{1} << 24;
  CHECK(error_of_layer({{"layer", "slice"}, {"begin", std::numeric_limits<std::int64_t>::max()}}) ==
        "layer \"slice\": \"begin\" must be between -16777216 and 16777216, but is 9223372036854775807");
  CHECK(error_of_layer({{"layer", "zero_pad"}, {"padding", Value::Array{kLarge + 1, 1, 0, 0}}})
            .starts_with("layer \"zero_pad\": \"padding\" must be between -16777216 and 16777216"));
  CHECK(refused_layers({4}, {{{"layer", "reshape"}, {"shape", Value::Array{kLarge, kLarge, -1}}}}) ==
        "reshape_1 (reshape): the shape (16777216, 16777216, 1) has too many elements | ");
  CHECK(refused_layers({4}, {{{"layer", "reshape"}, {"shape", Value::Array{0, -1}}}})
            .starts_with("layer \"reshape\": \"shape\" must be one to three extents of at least 1"));
  CHECK(refused_layers({4},
                       {{{"layer", "dense"}, {"units", kLarge}}, {{"layer", "dense"}, {"units", kLarge}}}) ==
        "dense_2 (dense): the shape (16777216, 16777216) has too many elements | ");
}

TEST_CASE("inputs that do not fit are refused with both shapes and a fix") {
  const Settings conv{{"layer", "conv2d"}, {"filters", 4}, {"kernel", 3}, {"name", "c"}};
  const Value both = list({"input", "c"});
  for (const char* layer : {"subtract", "average", "maximum"}) {
    CHECK(
        refused_layers({4, 8, 8}, {conv, {{"layer", layer}, {"inputs", both}}}) ==
        fmt::format("{}_1 ({}): its inputs have different shapes, (N, 4, 8, 8) and (N, 4, 6, 6) | give both "
                    "one shape, for example with a 1 x 1 convolution on one of the paths",
                    layer, layer));
    CHECK(refused_layers({4}, {{{"layer", layer}}}) ==
          fmt::format(
              "{}_1 ({}): needs two or more inputs | name the inputs: {{ layer = \"{}\", inputs = [\"a\", "
              "\"b\"] }}",
              layer, layer, layer));
  }
  CHECK(refused_layers({4}, {{{"layer", "subtract"}, {"inputs", list({"input", "input", "input"})}}}) ==
        "subtract_1 (subtract): needs two inputs, but has 3 | name two: { layer = \"subtract\", inputs = "
        "[\"a\", \"b\"] }");
  CHECK(refused_layers({4, 8, 8}, {conv, {{"layer", "multiply"}, {"inputs", both}}}) ==
        "multiply_1 (multiply): its inputs have different shapes, (N, 4, 8, 8) and (N, 4, 6, 6) | each input "
        "needs the shape of the largest, or one value per channel: (C) or (C, 1, 1)");
  CHECK(refused_layers({4, 8, 8}, {conv, {{"layer", "concat"}, {"inputs", both}}}) ==
        "concat_1 (concat): its inputs (N, 4, 8, 8) and (N, 4, 6, 6) may differ only in their channels | "
        "give both the same size, for example with padding = \"same\" or the same stride on both paths");
  CHECK(refused_layers({4, 8},
                       {{{"layer", "concat"}, {"axis", "height"}, {"inputs", list({"input", "input"})}}}) ==
        "concat_1 (concat): its input (N, 4, 8) has no axis \"height\" | its axes are time, features");
  CHECK_THAT(refused_layers({4}, {{{"layer", "concat"}, {"axis", "depth"}}}),
             Contains("unknown axis \"depth\""));
  CHECK(refused_layers({4, 8, 8}, {{{"layer", "slice"}, {"begin", 3}, {"size", 2}}}) ==
        "slice_1 (slice): cannot take 2 channels from position 3 of its input (N, 4, 8, 8) | begin + size "
        "may be up to 4");
  CHECK(refused_layers({6, 8, 8}, {{{"layer", "channel_shuffle"}, {"groups", 4}}}) ==
        "channel_shuffle_1 (channel_shuffle): 4 groups do not divide the 6 channels of its input (N, 6, 8, "
        "8) | choose groups that divide the channels");
  CHECK(refused_layers({3, 8, 8}, {{{"layer", "permute"}, {"dims", list({2, 1})}}}) ==
        "permute_1 (permute): has 2 dims, but its input (N, 3, 8, 8) has 3 axes | name every axis once, "
        "counted from 1, without the batch");
  CHECK_THAT(refused_layers({3, 8}, {{{"layer", "permute"}, {"dims", list({2, 2})}}}),
             Contains("\"dims\" must be every axis once"));
  CHECK(refused_layers({3, 4, 5}, {{{"layer", "reshape"}, {"shape", list({7, -1})}}}) ==
        "reshape_1 (reshape): its input (N, 3, 4, 5) has 60 elements, which do not fit the shape (N, 7, -1) "
        "| give a shape with as many elements, or -1 for one extent");
  Graph graph({3, 4, 4});
  CHECK_THROWS_WITH(split(input(graph), 2), "3 channels of (N, 3, 4, 4) cannot be split into 2 equal parts");
}

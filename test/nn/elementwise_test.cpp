// Functions of elements. GoldenFunction values and gradients are PyTorch's (2.x):
//   a = torch.tensor([-2, -0.5, 0, 0.5, 2.5, 3.5, nan, inf], requires_grad=True)
//   b = torch.tensor([0.5, 2, 0, -1, 2.5, 0, 1, 2], requires_grad=True)
//   y = torch.sqrt(a), torch.pow(a, b), ..., torch.where(a > 0, a, b); y.sum().backward()
// The sign of a NaN is NumPy's.
#include "around.hpp"
#include "convoke/core/table.hpp"
#include "convoke/nn/layer_table.hpp"
#include "experiment.hpp"
#include "nn/kernels/functions.hpp"
#include "support/catch.hpp"

using namespace convoke;
using namespace convoke::nn;

namespace {

constexpr float INF = std::numeric_limits<float>::infinity();

using Numbers = std::vector<float>;
const Numbers kFirst{-2, -0.5F, 0, 0.5F, 2.5F, 3.5F, NAN, INF}, kSecond{0.5F, 2, 0, -1, 2.5F, 0, 1, 2};

struct GoldenFunction {
  std::string_view name;
  Numbers y, first, second;  ///< the values, and the gradients of both operands
};
// clang-format off
const std::vector<GoldenFunction> kGoldenFunctions{
      {"abs", {2.0F, 0.5F, 0.0F, 0.5F, 2.5F, 3.5F, NAN, INF}, {-1.0F, -1.0F, 0.0F, 1.0F, 1.0F, 1.0F, 0.0F, 1.0F}, {}},
      {"ceil", {-2.0F, -0.0F, 0.0F, 1.0F, 3.0F, 4.0F, NAN, INF}, {0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}, {}},
      {"cos", {-0.4161468F, 0.8775826F, 1.0F, 0.8775826F, -0.8011436F, -0.9364567F, NAN, NAN}, {0.9092974F, 0.4794255F, -0.0F, -0.4794255F, -0.5984721F, 0.3507832F, NAN, NAN}, {}},
      {"erf", {-0.9953223F, -0.5204999F, 0.0F, 0.5204999F, 0.999593F, 0.9999993F, NAN, 1.0F}, {0.02066699F, 0.8787826F, 1.128379F, 0.8787826F, 0.002178284F, 5.399427e-06F, NAN, 0.0F}, {}},
      {"exp", {0.1353353F, 0.6065307F, 1.0F, 1.648721F, 12.18249F, 33.11545F, NAN, INF}, {0.1353353F, 0.6065307F, 1.0F, 1.648721F, 12.18249F, 33.11545F, NAN, INF}, {}},
      {"floor", {-2.0F, -1.0F, 0.0F, 0.0F, 2.0F, 3.0F, NAN, INF}, {0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}, {}},
      {"log", {NAN, NAN, -INF, -0.6931472F, 0.9162908F, 1.252763F, NAN, INF}, {-0.5F, -2.0F, INF, 2.0F, 0.4F, 0.2857143F, NAN, 0.0F}, {}},
      {"round", {-2.0F, -0.0F, 0.0F, 0.0F, 2.0F, 4.0F, NAN, INF}, {0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}, {}},
      {"sign", {-1.0F, -1.0F, 0.0F, 1.0F, 1.0F, 1.0F, NAN, 1.0F}, {0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}, {}},
      {"sin", {-0.9092974F, -0.4794255F, 0.0F, 0.4794255F, 0.5984721F, -0.3507832F, NAN, NAN}, {-0.4161468F, 0.8775826F, 1.0F, 0.8775826F, -0.8011436F, -0.9364567F, NAN, NAN}, {}},
      {"sqrt", {NAN, NAN, 0.0F, 0.7071068F, 1.581139F, 1.870829F, NAN, INF}, {NAN, NAN, INF, 0.7071068F, 0.3162278F, 0.2672612F, NAN, 0.0F}, {}},
      {"divide", {-4.0F, -0.25F, NAN, -0.5F, 1.0F, INF, NAN, INF}, {2.0F, 0.5F, INF, -1.0F, 0.4F, INF, 1.0F, 0.5F}, {8.0F, 0.125F, NAN, -0.5F, -0.4F, -INF, NAN, -INF}},
      {"equal", {0.0F, 0.0F, 1.0F, 0.0F, 1.0F, 0.0F, 0.0F, 0.0F}, {0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}, {0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}},
      {"greater", {0.0F, 0.0F, 0.0F, 1.0F, 0.0F, 1.0F, 0.0F, 1.0F}, {0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}, {0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}},
      {"greater_equal", {0.0F, 0.0F, 1.0F, 1.0F, 1.0F, 1.0F, 0.0F, 1.0F}, {0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}, {0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}},
      {"maximum", {0.5F, 2.0F, 0.0F, 0.5F, 2.5F, 3.5F, NAN, INF}, {0.0F, 0.0F, 0.5F, 1.0F, 0.5F, 1.0F, 1.0F, 1.0F}, {1.0F, 1.0F, 0.5F, 0.0F, 0.5F, 0.0F, 1.0F, 0.0F}},
      {"minimum", {-2.0F, -0.5F, 0.0F, -1.0F, 2.5F, 0.0F, NAN, 2.0F}, {1.0F, 1.0F, 0.5F, 0.0F, 0.5F, 0.0F, 1.0F, 0.0F}, {0.0F, 0.0F, 0.5F, 1.0F, 0.5F, 1.0F, 1.0F, 1.0F}},
      {"power", {NAN, 0.25F, 1.0F, 2.0F, 9.882117F, 1.0F, NAN, INF}, {NAN, -1.0F, 0.0F, -4.0F, 9.882117F, 0.0F, 1.0F, INF}, {NAN, NAN, 0.0F, -1.386294F, 9.054893F, 1.252763F, NAN, INF}},
      {"subtract", {-2.5F, -2.5F, 0.0F, 1.5F, 0.0F, 3.5F, NAN, INF}, {1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F}, {-1.0F, -1.0F, -1.0F, -1.0F, -1.0F, -1.0F, -1.0F, -1.0F}},
      {"where", {0.5F, 2.0F, 0.0F, 0.5F, 2.5F, 3.5F, 1.0F, INF}, {0.0F, 0.0F, 0.0F, 1.0F, 1.0F, 1.0F, 0.0F, 1.0F}, {1.0F, 1.0F, 1.0F, 0.0F, 0.0F, 0.0F, 1.0F, 0.0F}},
};
// clang-format on

/// The numbers again and again, for more than a block.
Numbers many(const Numbers& numbers) {
  Numbers all;
  for (std::size_t i = 0; i < Function::kBlock + 5; ++i) all.push_back(numbers[i % numbers.size()]);
  return all;
}

void check_same(const Numbers& actual, const Numbers& golden) {
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const float wanted = golden[i % golden.size()];
    INFO("element " << i << ": " << actual[i] << ", wanted " << wanted);
    const bool close = std::abs(actual[i] - wanted) <= 3e-6F * std::abs(wanted);
    CHECK((std::isnan(wanted) ? std::isnan(actual[i]) : actual[i] == wanted || close));
  }
}

/// Values above 0 of another convolution.
Symbol above(Symbol x) {
  const std::int64_t channels = x.graph->node(x.node).shape[0];
  return rescale(sigmoid(conv2d(x, {.filters = channels, .kernel = 1})), {2, 0.5});
}

/// Checks `body` of the values of a convolution.
template <class Body>
void check(std::int64_t channels, const Body& body) {
  check_graph(around(channels, 3, 2, body), kMicroBatchOf2);
}

}  // namespace

TEST_CASE("functions and their gradients are PyTorch's, also at 0, NaN and infinity") {
  const Numbers a = many(kFirst), b = many(kSecond), dy(a.size(), 1);
  for (const GoldenFunction& golden : kGoldenFunctions) {
    INFO(golden.name);
    const Function& f = find_in(functions(), golden.name, "function");
    FunctionOperands<float> operands{.values = {a.data(), b.data()}, .numbers = {}};
    Numbers condition(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) condition[i] = a[i] > 0 ? 1 : 0;
    if (golden.name == "where") operands.values = {condition.data(), a.data(), b.data()};
    const std::size_t first = golden.name == "where" ? 1 : 0;
    Numbers y(a.size()), dx(a.size());
    apply(f, operands, y.data(), y.size());
    check_same(y, golden.y);
    apply_backward(f, first, operands, dy.data(), dx.data(), dx.size());
    check_same(dx, golden.first);
    if (golden.second.empty()) continue;
    apply_backward(f, first + 1, operands, dy.data(), dx.data(), dx.size());
    check_same(dx, golden.second);
  }
  CHECK(kGoldenFunctions.size() == functions().size());
}

TEST_CASE("functions of images in every layout, of sequences, with numbers in any place") {
  for (const std::int64_t channels : {3, 16, 20}) {
    INFO(channels << " channels");
    check(channels, [](Symbol x) { return elementwise("divide", {tanh(x), above(x)}); });
    check(channels, [](Symbol x) { return elementwise("power", {above(x), tanh(x)}); });
    check(channels, [](Symbol x) { return elementwise("power", {above(x)}, {{}, 1.5}); });
    check(channels, [](Symbol x) { return elementwise("power", {x}, {2.5, {}}); });
    check(channels, [](Symbol x) { return elementwise("divide", {above(x)}, {1.0, {}}); });
    check(channels, [](Symbol x) { return elementwise("subtract", {x, x}, {}); });
    for (const char* name : {"cos", "erf", "exp", "log", "sin", "sqrt"}) {
      INFO(name);
      check(channels, [&](Symbol x) { return elementwise(name, {above(x)}); });
    }
    // kinks: the gradients are those of one side
    check(channels, [](Symbol x) {
      const Symbol larger = elementwise("greater", {x}, {{}, 0.1});
      return elementwise("where", {larger, elementwise("maximum", {x, above(x)}), elementwise("abs", {x})});
    });
  }
  check_graph(along(5, 4,
                    [](Symbol x) {
                      return elementwise("divide", {softplus(x)}, {1.0, {}});
                    }),
              kMicroBatchOf2);
}

TEST_CASE("functions in bf16") {
  for (const std::int64_t channels : {16, 20}) {
    check_bf16(around(channels, 3, 2,
                      [](Symbol x) {
                        return elementwise("divide", {tanh(x), above(x)});
                      }),
               kMicroBatchOf3, 0.06);
  }
}

TEST_CASE("padding channels stay zero behind a function that lifts 0") {
  // The sum over all channels of a convolution after it would see padding.
  check_graph(
      around(20, 3, 3, [](Symbol x) { return conv2d(elementwise("exp", {x}), {.filters = 5, .kernel = 3}); }),
      kMicroBatchOf2);
}

TEST_CASE("weights that only a condition reads get no gradient, and the plan runs") {
  Graph graph({4});
  const Symbol x = input(graph);
  const Symbol which = elementwise("greater", {dense(x, {.units = 4})}, {{}, 0.0});
  dense(elementwise("where", {which, x}, {{}, {}, -1.0}), {.units = 3});
  check_graph(graph, kMicroBatchOf2);
}

TEST_CASE("tokens are compared with a number: the mask of Keras") {
  Graph graph(tokens(5));
  const Symbol mask = elementwise("equal", {input(graph)}, {{}, 0.0});
  dense(mask, {.units = 3});
  check_graph(graph, kMicroBatchOf2);
}

TEST_CASE("an elementwise layer that makes no sense is refused with a fix") {
  const auto refused = [](std::vector<Settings> layers) { return refusal({4}, std::move(layers)); };
  CHECK_THAT(refused({{{"layer", "elementwise"}}}), Contains("\"function\" is missing"));
  CHECK_THAT(refused({{{"layer", "elementwise"}, {"function", "exp2"}}}),
             Contains("unknown function \"exp2\" (did you mean \"exp\"?)"));
  const auto divide = [&](Value operands, Value inputs) {
    return refused(
        {{{"layer", "elementwise"}, {"function", "divide"}, {"operands", operands}, {"inputs", inputs}}});
  };
  CHECK_THAT(divide(list({"x", "y"}), list({"input"})), Contains("holds \"y\""));
  CHECK_THAT(divide(list({"x", "nan"}), list({"input"})), Contains("holds \"nan\""));
  CHECK_THAT(divide(list({"x"}), list({"input"})), Contains("has 2 operands, not 1"));
  CHECK_THAT(divide(list({"x", "x"}), list({"input"})), Contains("needs 2 inputs here, but has 1"));
  CHECK_THAT(divide(list({"x", "2"}), list({"input", "input"})), Contains("needs 1 inputs here, but has 2"));
  CHECK(make_layer({{"layer", "elementwise"}, {"function", "divide"}, {"operands", list({"-inf", "x"})}})
            ->settings() ==
        Settings{{"layer", "elementwise"}, {"function", "divide"}, {"operands", list({"-inf", "x"})}});
}

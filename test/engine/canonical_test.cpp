#include "convoke/engine/canonical.hpp"

#include "convoke/core/error.hpp"
#include "support/catch.hpp"
#include "support/tiny.hpp"

using namespace convoke;
using engine::CanonicalParameter;

TEST_CASE("canonical parameters are in the order of the graph, without padding") {
  const std::vector<CanonicalParameter> parameters = engine::canonical_parameters(tiny::graph());
  std::vector<std::string> names;
  std::size_t end = 0;
  for (const CanonicalParameter& parameter : parameters) {
    CHECK(parameter.offset == end);
    end += parameter.size();
    names.push_back(parameter.name.substr(parameter.name.find('.') + 1));
  }
  // conv 8x1x3x3 + 8, batch norm 4 x 8, dense 4 x 72 + 4
  CHECK(end == 72 + 8 + 32 + 288 + 4);
  CHECK(engine::canonical_values(parameters) == end);
  CHECK(static_cast<std::int64_t>(end) == tiny::graph().parameter_count());
  CHECK(names.front() == "weight");
  CHECK(parameters.front().shape == Shape{8, 1, 3, 3});
}

TEST_CASE("unpack is the inverse of pack, for any micro-batch size") {
  const std::vector<CanonicalParameter> parameters = engine::canonical_parameters(tiny::graph());
  std::vector<float> values(engine::canonical_values(parameters));
  std::iota(values.begin(), values.end(), 1.0F);
  for (const std::int64_t micro_batch : {1, 8, 32}) {
    const nn::ParameterLayout layout(tiny::graph(), micro_batch);
    AlignedBuffer<float> arena(layout.size());
    engine::pack(parameters, layout, values, arena.span());
    CHECK(engine::unpack(parameters, layout, arena.span()) == values);
  }
}

TEST_CASE("optimizer state covers the trainable parameters, and statistics stay 0") {
  const std::vector<CanonicalParameter> parameters = engine::canonical_parameters(tiny::graph());
  std::vector<float> values(engine::canonical_values(parameters));
  std::iota(values.begin(), values.end(), 1.0F);
  const nn::ParameterLayout layout(tiny::graph(), 8);
  AlignedBuffer<float> state(layout.trainable_size());
  engine::pack(parameters, layout, values, engine::StateArray(state.span()));
  const std::vector<float> back = engine::unpack(parameters, layout, engine::StateArray(state.span()));
  for (const CanonicalParameter& parameter : parameters) {
    for (std::size_t i = parameter.offset; i < parameter.offset + parameter.size(); ++i) {
      REQUIRE(back[i] == (parameter.trainable ? values[i] : 0.0F));
    }
  }
}

TEST_CASE("a list of another size is refused") {
  const nn::ParameterLayout layout(tiny::graph(), 8);
  AlignedBuffer<float> arena(layout.size());
  const std::vector<float> short_list(10);
  CHECK_THROWS_AS(engine::pack(engine::canonical_parameters(tiny::graph()), layout, short_list, arena.span()),
                  Error);
}

// Weights of one model for another.
#include "convoke/run/initial_weights.hpp"

#include "convoke/engine/canonical.hpp"
#include "convoke/nn/layer_table.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke;
using namespace convoke::run;

namespace {

nn::Graph graph(std::int64_t units, const std::string& head) {
  return nn::build_graph(Shape{4}, {{{"layer", "dense"}, {"units", 3}, {"name", "body"}},
                                    {{"layer", "dense"}, {"units", units}, {"name", head}}});
}

ModelSet counted(const nn::Graph& graph) {
  ModelSet set{{.graph = graph, .normalization = {}, .class_names = {}}, {}};
  Member member;
  member.parameters.resize(engine::canonical_values(engine::canonical_parameters(graph)));
  for (std::size_t i = 0; i < member.parameters.size(); ++i) member.parameters[i] = static_cast<float>(i + 1);
  set.members.push_back(member);
  return set;
}

}  // namespace

TEST_CASE("parameters that match in name and shape are taken, the others are listed") {
  const ModelSet source = counted(graph(5, "head"));
  const InitialWeights all = take_weights(source, graph(5, "head"), "model.h5");
  CHECK(all.values == source.members[0].parameters);
  CHECK(all.describe() == "4 of 4 parameters");

  const InitialWeights other = take_weights(source, graph(2, "head"), "model.h5");
  CHECK(other.given == std::vector<bool>{true, true, false, false});
  CHECK(other.values[14] == 15);
  CHECK(other.describe() ==
        "2 of 4 parameters; initialized: head.weight (2, 3), in the file (5, 3), head.bias (2), in the file "
        "(5)");

  const InitialWeights renamed = take_weights(source, graph(5, "classes"), "model.h5");
  CHECK(renamed.describe() ==
        "2 of 4 parameters; initialized: classes.weight, classes.bias; not used: head.weight, head.bias");
}

TEST_CASE("a file without a fitting parameter is refused") {
  const nn::Graph other = nn::build_graph(Shape{4}, {{{"layer", "dense"}, {"units", 7}}});
  CHECK(error_of([&] { take_weights(counted(graph(5, "head")), other, "model.h5"); }) ==
        "model.h5: no parameter of the file fits this model");
}

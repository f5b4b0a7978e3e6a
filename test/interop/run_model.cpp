// interop_run MODEL DATA.h5 OUT.h5: reads a model file of any format and runs it on given samples, for
// scripts that compare it with the program that wrote it (compare.py).
//   DATA.h5  /samples float32 (N, C, H, W), (N, L, F) or (N, F), or int32 (N, L) of tokens;
//            /labels int32 (N), optional: then also one training step, with the mean softmax cross-entropy
//   OUT.h5   /output (N, ...); with labels: /loss (1), /gradients/<node.parameter> and /parameters/<...>,
//   canonical;
//            the training step computes dropout and micro-batch statistics as training does
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <span>

#include "convoke/interop/model_io.hpp"
#include "convoke/nn/layers/reshape.hpp"
#include "run_on.hpp"

using namespace convoke;

namespace {

void write(hdf5::Group& group, const std::string& name, const std::vector<double>& values,
           const Shape& shape) {
  const std::vector<float> floats(values.begin(), values.end());
  group.write(name, std::span<const float>(floats), shape);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: interop_run MODEL DATA.h5 OUT.h5\n";
    return 2;
  }
  const hdf5::File data = hdf5::File::open(argv[2]);
  const std::vector<std::int64_t> all = data.dataset("samples").shape().extents();
  const interop::Imported imported =
      interop::read_model(argv[1], {.input = Shape(std::vector<std::int64_t>(all.begin() + 1, all.end()))});
  for (const std::string& note : imported.notes) std::cout << "note: " << note << "\n";
  nn::Graph graph = imported.models.description.graph;
  const Shape output = graph.output_shape();
  // The loss takes vectors, which also hold any other value.
  if (output.rank() > 1) graph.add(std::make_shared<nn::Flatten>(), {graph.nodes().size() - 1});
  const std::vector<float>& parameters = imported.models.members.front().parameters;
  const Outcome forward = run_on(graph, parameters, data);

  hdf5::File out = hdf5::File::create(argv[3]);
  std::vector<std::int64_t> shape{all[0]};
  for (const std::int64_t extent : output.extents()) shape.push_back(extent);
  write(out, "output", forward.output, Shape(shape));
  if (data.contains("labels")) {
    const Outcome step = run_on(graph, parameters, data, true);
    write(out, "loss", {step.loss / static_cast<double>(all[0])}, {1});
    hdf5::Group gradients = out.create_group("gradients"), values = out.create_group("parameters");
    for (const engine::CanonicalParameter& parameter : engine::canonical_parameters(graph)) {
      const auto own = std::span(parameters).subspan(parameter.offset, parameter.size());
      values.write(parameter.name, own, parameter.shape);
      const auto gradient = step.gradients.find(parameter.name);
      if (gradient != step.gradients.end() && parameter.trainable) {
        write(gradients, parameter.name, gradient->second, parameter.shape);
      }
    }
  }
  out.close();
  return EXIT_SUCCESS;
} catch (const Error& error) {
  std::cerr << "error: " << error.what() << "\n  hint: " << error.hint() << "\n";
  return EXIT_FAILURE;
}

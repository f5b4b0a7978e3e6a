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

#include "convoke/engine/canonical.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/nn/layers/reshape.hpp"
#include "experiment.hpp"

using namespace convoke;

namespace {

struct Samples {
  std::vector<float> numbers;
  std::vector<std::int32_t> tokens, labels;
  std::int64_t count = 0;
  Shape shape;  ///< of one sample
};

Samples read_samples(const std::string& name) {
  const hdf5::File file = hdf5::File::open(name);
  Samples samples;
  const Shape all = file.dataset("samples").shape();
  samples.count = all[0];
  samples.shape = Shape(std::vector<std::int64_t>(all.extents().begin() + 1, all.extents().end()));
  if (file.dataset("samples").type() == hdf5::ElementType::kInt32) {
    samples.tokens = file.read<std::int32_t>("samples");
  } else {
    samples.numbers = file.read<float>("samples");
  }
  if (file.contains("labels")) samples.labels = file.read<std::int32_t>("labels");
  return samples;
}

Outcome run_on(const nn::Graph& graph, const Samples& samples, std::span<const float> parameters,
               bool training) {
  Experiment experiment(graph, {.micro_batch = samples.count, .training = training});
  engine::pack(engine::canonical_parameters(graph), *experiment.layout, parameters,
               experiment.parameters.span());
  Batch batch(graph, samples.count);
  batch.input = samples.numbers;
  batch.tokens = samples.tokens;
  if (training) batch.labels = samples.labels;
  return experiment.run(batch);
}

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
  const Samples samples = read_samples(argv[2]);
  const interop::Imported imported = interop::read_model(argv[1], {.input = samples.shape});
  for (const std::string& note : imported.notes) std::cout << "note: " << note << "\n";
  nn::Graph graph = imported.models.description.graph;
  const Shape output = graph.output_shape();
  // The loss takes vectors, which also hold any other value.
  if (output.rank() > 1) graph.add(std::make_shared<nn::Flatten>(), {graph.nodes().size() - 1});
  const std::vector<float>& parameters = imported.models.members.front().parameters;
  const Outcome forward = run_on(graph, samples, parameters, false);

  hdf5::File out = hdf5::File::create(argv[3]);
  std::vector<std::int64_t> shape{samples.count};
  for (const std::int64_t extent : output.extents()) shape.push_back(extent);
  write(out, "output", forward.output, Shape(shape));
  if (!samples.labels.empty()) {
    const Outcome step = run_on(graph, samples, parameters, true);
    write(out, "loss", {step.loss / static_cast<double>(samples.count)}, {1});
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

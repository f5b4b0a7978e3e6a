// interop_run --convert IN OUT FORMAT [--raw-input]: writes a model file of any format as FORMAT.
// interop_run --samples FOLDER: writes the sample models (sample_models.txt) as FOLDER/<name>.h5, one of them
// also as FOLDER/ensemble.h5, whose members are in FOLDER/members/.
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
#include <string_view>

#include "convoke/interop/model_io.hpp"
#include "convoke/nn/backend.hpp"
#include "convoke/nn/layers/reshape.hpp"
#include "run_on.hpp"
#include "sample_models.hpp"

using namespace convoke;

namespace {

void write(hdf5::Group& group, const std::string& name, const std::vector<double>& values,
           const Shape& shape) {
  const std::vector<float> floats(values.begin(), values.end());
  group.write(name, std::span<const float>(floats), shape);
}

void write_samples(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const SampleModel& sample : sample_models()) {
    interop::write_model(folder / (std::string(sample.name) + ".h5"), make_sample(sample), "convoke");
  }
  run::ModelSet ensemble = make_sample(sample_model("classifier"), 3);
  interop::write_model(folder / "ensemble.h5", ensemble, "convoke");
  std::filesystem::create_directories(folder / "members");
  for (const run::Member& member : ensemble.members) {
    const std::string name = std::to_string(member.index) + ".h5";
    run::write_model(folder / "members" / name, ensemble.description, member.parameters);
  }
}

void run_samples(const std::filesystem::path& model, const std::filesystem::path& data_file,
                 const std::filesystem::path& out_file) {
  const hdf5::File data = hdf5::File::open(data_file);
  const std::vector<std::int64_t> all = data.dataset("samples").shape().extents();
  const interop::Imported imported =
      interop::read_model(model, {.input = Shape(std::vector<std::int64_t>(all.begin() + 1, all.end()))});
  for (const std::string& note : imported.notes) std::cout << "note: " << note << "\n";
  nn::Graph graph = imported.models.description.graph;
  const Shape output = graph.output_shape();
  // The loss takes vectors, which also hold any other value.
  if (output.rank() > 1) graph.add(std::make_shared<nn::Flatten>(), {graph.nodes().size() - 1});
  const std::vector<float>& parameters = imported.models.members.front().parameters;
  const Outcome forward = run_on(graph, parameters, data);

  hdf5::File out = hdf5::File::create(out_file);
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
}

}  // namespace

int main(int argc, char** argv) try {
  nn::single_threaded();  // layouts and plans are made for one thread
  const std::string_view task = argc > 1 ? argv[1] : "";
  const bool raw = argc == 6 && std::string_view(argv[5]) == "--raw-input";
  if (task == "--samples" && argc == 3) {
    write_samples(argv[2]);
  } else if (task == "--convert" && (argc == 5 || raw)) {
    interop::write_model(argv[3], interop::read_model(argv[2]).models, argv[4], {.raw_input = raw});
  } else if (argc == 4 && !task.starts_with("--")) {
    run_samples(argv[1], argv[2], argv[3]);
  } else {
    std::cerr
        << "usage: interop_run MODEL DATA.h5 OUT.h5 | --convert IN OUT FORMAT [--raw-input] | --samples FOLDER\n";
    return 2;
  }
  return EXIT_SUCCESS;
} catch (const Error& error) {
  std::cerr << "error: " << error.what() << "\n  hint: " << error.hint() << "\n";
  return EXIT_FAILURE;
}

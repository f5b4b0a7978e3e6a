// zoo_write_model NAME FILE [SIZE [CLASSES [GAIN]]]: writes a zoo model with weights for comparison as a
// model file. For compare.py.
#include <cstdlib>
#include <exception>
#include <iostream>

#include "convoke/engine/canonical.hpp"
#include "convoke/run/model_file.hpp"
#include "weights.hpp"

using namespace convoke;

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::cerr << "usage: zoo_write_model NAME FILE [SIZE [CLASSES [GAIN]]]\n";
    return 2;
  }
  const std::int64_t size = argc > 3 ? std::atoll(argv[3]) : 0;
  const std::int64_t classes = argc > 4 ? std::atoll(argv[4]) : 1000;
  const double gain = argc > 5 ? std::atof(argv[5]) : 1;
  run::ModelDescription description{
      .graph = comparison_model(argv[1], size, classes), .normalization = {}, .class_names = {}};
  if (description.graph.input_shape().type == nn::ValueType::kReal) {
    const auto channels = static_cast<std::size_t>(description.graph.input_shape()[0]);
    description.normalization = {std::vector<float>(channels, 1), std::vector<float>(channels, 0)};
  }
  std::vector<float> values;
  for (const engine::CanonicalParameter& parameter : engine::canonical_parameters(description.graph)) {
    const std::vector<float> own = comparison_weights(parameter.name, parameter.shape, gain);
    values.insert(values.end(), own.begin(), own.end());
  }
  run::write_model(argv[2], description, values);
  return EXIT_SUCCESS;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << "\n";
  return EXIT_FAILURE;
}

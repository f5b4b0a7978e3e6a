#include "weights.hpp"

#include <cmath>
#include <span>

#include "convoke/core/checksum.hpp"
#include "convoke/core/random.hpp"

using namespace convoke;

std::vector<float> comparison_weights(const std::string& name, const Shape& shape, double gain) {
  RandomStream random({1, Purpose::kWeights, 0, crc32(std::as_bytes(std::span(name)))});
  const bool weight = shape.rank() > 1;
  const bool around_one = name.ends_with(".gamma") || name.ends_with(".running_variance");
  const double deviation =
      weight ? gain * std::sqrt(2.0 * static_cast<double>(shape[0]) / static_cast<double>(shape.elements()))
             : 0;
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (float& value : values) {
    const double x = weight ? deviation * random.normal() : random.uniform() - (around_one ? -0.5 : 0.5);
    value = static_cast<float>(x);
  }
  return values;
}

nn::Graph comparison_model(const std::string& name, std::int64_t size, std::int64_t classes) {
  Shape input = nn::zoo_input(name);
  if (size > 0) input = {input[0], size, size};
  return nn::make_zoo_model(name, {.input = input, .classes = classes});
}

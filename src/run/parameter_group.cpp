#include "convoke/run/parameter_group.hpp"

#include <fmt/format.h>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/versions.hpp"

namespace convoke::run {
namespace {

void require_sum(const hdf5::Object& object, std::uint32_t found) {
  const auto stored = object.attribute<std::int64_t>("checksum");
  if (stored == found) return;
  throw Error(fmt::format("{}: is damaged: its values have checksum {:08x}, but {:08x} is stored",
                          object.where(), found, stored));
}

// Returns the checksum, which it has compared with the stored one.
std::uint32_t read_checked(const hdf5::Dataset& dataset, std::span<float> values) {
  dataset.read(values);
  const std::uint32_t sum = crc32(std::as_bytes(values));
  require_sum(dataset, sum);
  return sum;
}

}  // namespace

void write_parameters(hdf5::Group& group, std::span<const engine::CanonicalParameter> parameters,
                      std::span<const float> canonical) {
  std::uint32_t all = 0;
  for (const engine::CanonicalParameter& parameter : parameters) {
    const std::span<const float> values = canonical.subspan(parameter.offset, parameter.size());
    const std::uint32_t sum = crc32(std::as_bytes(values));
    hdf5::Dataset dataset = group.write(parameter.name, values, parameter.shape);
    dataset.set_attribute("checksum", std::int64_t{sum});
    all = crc32_join(all, sum, values.size_bytes());
  }
  group.set_attribute("checksum", std::int64_t{all});
}

std::vector<float> read_parameters(const hdf5::Group& group,
                                   std::span<const engine::CanonicalParameter> parameters) {
  std::vector<float> canonical(engine::canonical_values(parameters));
  std::uint32_t all = 0;
  for (const engine::CanonicalParameter& parameter : parameters) {
    const hdf5::Dataset dataset = group.dataset(parameter.name);
    if (dataset.shape() != parameter.shape) {
      throw Error(fmt::format("{}: has shape {}, but its model needs {}", dataset.where(),
                              dataset.shape().to_string(), parameter.shape.to_string()));
    }
    const std::span<float> values = std::span(canonical).subspan(parameter.offset, parameter.size());
    all = crc32_join(all, read_checked(dataset, values), values.size_bytes());
  }
  require_sum(group, all);
  return canonical;
}

std::vector<float> read_parameter(const hdf5::Dataset& dataset) {
  std::vector<float> values(static_cast<std::size_t>(dataset.shape().elements()));
  read_checked(dataset, values);
  return values;
}

void write_format(hdf5::File& file, const std::string& format, std::int64_t version) {
  file.set_attribute("convoke_format", format);
  file.set_attribute("format_version", version);
}

std::string read_format(const hdf5::File& file, std::int64_t version) {
  if (!file.has_attribute("convoke_format") || !file.has_attribute("format_version")) {
    throw Error(fmt::format("{}: is an HDF5 file, but not from Convoke", file.file().string()));
  }
  require_known_format(file.file().string(), file.attribute<std::int64_t>("format_version"), version);
  return file.attribute<std::string>("convoke_format");
}

}  // namespace convoke::run

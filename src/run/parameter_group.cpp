#include "convoke/run/parameter_group.hpp"

#include <fmt/format.h>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"

namespace convoke::run {

void write_parameters(hdf5::Group& group, std::span<const engine::CanonicalParameter> parameters,
                      std::span<const float> canonical) {
  for (const engine::CanonicalParameter& parameter : parameters) {
    group.write(parameter.name, canonical.subspan(parameter.offset, parameter.size()), parameter.shape);
  }
  group.set_attribute("checksum", std::int64_t{crc32(std::as_bytes(canonical))});
}

std::vector<float> read_parameters(const hdf5::Group& group,
                                   std::span<const engine::CanonicalParameter> parameters) {
  std::vector<float> canonical(engine::canonical_values(parameters));
  for (const engine::CanonicalParameter& parameter : parameters) {
    const hdf5::Dataset dataset = group.dataset(parameter.name);
    if (dataset.shape() != parameter.shape) {
      throw Error(fmt::format("{}: has shape {}, but its model needs {}", dataset.where(),
                              dataset.shape().to_string(), parameter.shape.to_string()));
    }
    dataset.read(std::span(canonical).subspan(parameter.offset, parameter.size()));
  }
  const std::int64_t stored = group.attribute<std::int64_t>("checksum");
  const std::int64_t found = crc32(std::as_bytes(std::span(canonical)));
  if (stored != found) {
    throw Error(fmt::format(
        "{}: is damaged: the checksum of its parameters is {:08x}, not {:08x} as when it was written",
        group.where(), found, stored));
  }
  return canonical;
}

void write_format(hdf5::File& file, const std::string& format, std::int64_t version) {
  file.set_attribute("convoke_format", format);
  file.set_attribute("format_version", version);
}

std::string read_format(const hdf5::File& file, std::int64_t version) {
  if (!file.has_attribute("convoke_format") || !file.has_attribute("format_version")) {
    throw Error(fmt::format("{}: is an HDF5 file, but not one of Convoke", file.file().string()));
  }
  const auto found = file.attribute<std::int64_t>("format_version");
  if (found > version) {
    throw Error(fmt::format("{}: has format version {}; this Convoke reads up to {}", file.file().string(),
                            found, version),
                "use the newer Convoke that wrote it");
  }
  return file.attribute<std::string>("convoke_format");
}

}  // namespace convoke::run

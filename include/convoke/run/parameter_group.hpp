#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/engine/canonical.hpp"
#include "convoke/hdf5/file.hpp"

// Canonical parameters in HDF5, as model files and checkpoints store them.

namespace convoke::run {

/// Writes one float32 dataset per parameter into `group`, each with the CRC-32 of its values in the attribute
/// "checksum"; the group's attribute covers all values.
void write_parameters(hdf5::Group& group, std::span<const engine::CanonicalParameter> parameters,
                      std::span<const float> canonical);

/// Reads the parameters. Throws Error naming file and dataset if one is missing, has another shape, or its
/// checksum differs.
std::vector<float> read_parameters(const hdf5::Group& group,
                                   std::span<const engine::CanonicalParameter> parameters);

/// Reads one parameter, in canonical layout. Throws Error naming file and dataset if its checksum differs.
std::vector<float> read_parameter(const hdf5::Dataset& dataset);

/// Marks `file` as a Convoke file with the attributes convoke_format (its content) and format_version.
void write_format(hdf5::File& file, const std::string& format, std::int64_t version);

/// Returns convoke_format. Throws Error if `file` is not a Convoke file or is newer than `version`.
std::string read_format(const hdf5::File& file, std::int64_t version);

}  // namespace convoke::run

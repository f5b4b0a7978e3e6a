#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/engine/canonical.hpp"
#include "convoke/hdf5/file.hpp"

// Canonical parameters in HDF5: how model files and checkpoints store them.

namespace convoke::run {

/// Writes one float32 dataset per parameter into `group`, each with the CRC-32 of its values as an attribute
/// "checksum"; the group's is that of all values.
void write_parameters(hdf5::Group& group, std::span<const engine::CanonicalParameter> parameters,
                      std::span<const float> canonical);

/// Reads them back. Throws Error naming file and dataset if one is missing, has another shape, or a
/// checksum differs.
std::vector<float> read_parameters(const hdf5::Group& group,
                                   std::span<const engine::CanonicalParameter> parameters);

/// Marks `file` as one of ours: attributes convoke_format (what it holds) and format_version.
void write_format(hdf5::File& file, const std::string& format, std::int64_t version);

/// Returns convoke_format. Throws Error if `file` is not of this program or newer than `version`.
std::string read_format(const hdf5::File& file, std::int64_t version);

}  // namespace convoke::run

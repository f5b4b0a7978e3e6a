#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/settings.hpp"

// Files and keys of other versions.
namespace convoke {

/// Thrown for a file of a newer format, which must not be taken for a damaged one.
struct NewerFormat : Error {
  using Error::Error;
};

/// Throws NewerFormat if `file` has a format that is newer than `newest`, the newest that this program reads.
/// docs/formats.md lists the formats.
inline void require_known_format(const std::string& file, std::int64_t format, std::int64_t newest) {
  if (format <= newest) return;
  throw NewerFormat(file + ": was written by a newer Convoke (format " + std::to_string(format) +
                        ", this one reads up to " + std::to_string(newest) + ")",
                    "install the version of Convoke that wrote it, or a later one");
}

// Keys of recipes and studies that had another name in earlier versions.

/// Returns an entry of flattened() in this version: "train.micro_batch", "8" for "train.lane", "8". Other
/// entries are returned as they are.
std::pair<std::string, std::string> current_entry(std::string path, std::string value);

/// Gives the keys of a recipe or study that an earlier version stored the names of this version.
void rename_keys(Settings& document);

/// The same, for a layer of a stored network.
void rename_layer_keys(Settings& layer);

/// Throws Error if a recipe or study has a key of an earlier version: `recipe.toml:14: "train.lane" is now
/// "train.micro_batch"`.
void refuse_renamed_keys(const Settings& document);

}  // namespace convoke

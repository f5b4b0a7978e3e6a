#pragma once
#include <string>
#include <utility>

#include "convoke/core/settings.hpp"

// Keys of recipes and studies that had another name in earlier versions.
namespace convoke {

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

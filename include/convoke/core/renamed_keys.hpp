#pragma once
#include <string>
#include <string_view>

#include "convoke/core/settings.hpp"

// Keys of recipes and studies that had another name in earlier versions.
namespace convoke {

/// Returns the path of a key in this version: "train.micro_batch" for "train.lane". Other paths are returned
/// as they are.
std::string current_key(std::string_view path);

/// Gives the keys of a recipe or study that an earlier version stored the names of this version.
void rename_keys(Settings& document);

/// The same, for a layer of a stored network.
void rename_layer_keys(Settings& layer);

/// Throws Error if a recipe or study has a key of an earlier version: `recipe.toml:14: "train.lane" is now
/// "train.micro_batch"`.
void refuse_renamed_keys(const Settings& document);

}  // namespace convoke

#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True if a sub-folder of `path` holds, at any depth, a file that is a picture by its name.
bool is_image_folder(const std::filesystem::path& path);

/// True if `path`, or its folder of training samples, has two sub-folders or more with pictures that are not
/// named as splits are (train, test_images, ...): their classes are known without a CSV.
bool has_class_folders(const std::filesystem::path& path);

/// A folder with a sub-folder for each class, which bears its name and holds its pictures, at any depth; or
/// with sub-folders train, validation and test (as canonical_split has it) that hold such folders, as
/// BIRDS-525 and PlantVillage do; other folders beside these are named in the provenance and left out.
/// Classes and pictures are ordered by the bytes of their names. Left out are hidden files and those that are
/// no pictures by their names; pictures of kinds that are not read (GIF, TIFF, WebP, ...), and those in no
/// class folder, are items with a fault. Bytes of names that are no UTF-8 are written \xE4. Throws Error:
/// fewer than two classes, an empty one, other classes in another split, a symbolic link to a folder around
/// it.
std::unique_ptr<Source> open_image_folder(const std::filesystem::path& folder, const SourceOptions& options);

}  // namespace convoke::data_prep

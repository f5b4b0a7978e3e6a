#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True if a sub-folder of `path` holds, at any depth, a file with the name of a picture.
bool is_image_folder(const std::filesystem::path& path);

/// True if `path`, or its folder of training samples, has at least two sub-folders with pictures whose names
/// are not those of splits (train, test_images, ...): their classes are known without a CSV.
bool has_class_folders(const std::filesystem::path& path);

/// Opens a folder with a sub-folder for each class, which has its name and holds its pictures, at any depth;
/// or with sub-folders train, validation and test (see canonical_split) that hold such folders, as in
/// BIRDS-525 and PlantVillage. Other folders next to these are left out and named in the provenance. Classes
/// and pictures are ordered by the bytes of their names. Hidden files, and files without the name of a
/// picture, are left out. Pictures in unsupported formats (GIF, TIFF, WebP, ...), and pictures outside class
/// folders, are items with a fault. Bytes of names that are not UTF-8 are written as \xE4. Throws Error for
/// fewer than two classes, an empty class, other classes in another split, or a symbolic link to an enclosing
/// folder.
std::unique_ptr<Source> open_image_folder(const std::filesystem::path& folder, const SourceOptions& options);

}  // namespace convoke::data_prep

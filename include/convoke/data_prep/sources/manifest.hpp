#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True of a .csv or .tsv with a column that is called as those of pictures' paths usually are (filepaths,
/// filename, image, id_code, ...), or, without a header, one that begins with a picture's name.
bool is_manifest(const std::filesystem::path& path);

/// A CSV that lists pictures and their labels, as birds.csv of BIRDS-525, trainLabels.csv of EyePACS,
/// train.csv of APTOS and labels.csv of ELPV do. Columns are found by usual names, named by the options, or
/// given by their position, 1, 2, ... A path is looked for in `images_folder` or, if none is named, beside
/// the CSV and in folders there that bear its name (with _images), or are called images, train_images or
/// train; without an ending, with those of pictures. Items with a fault: rows with too few or too many cells,
/// without a path, a label, or a split where others have one, whose file is not there or was listed before;
/// and the pictures that are not listed in folders of which others are. Throws Error: no column of paths or
/// labels, no row, fewer than two classes, a class in another split that none of the training rows is of.
std::unique_ptr<Source> open_manifest(const std::filesystem::path& file, const SourceOptions& options);

}  // namespace convoke::data_prep

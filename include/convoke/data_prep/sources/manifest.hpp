#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True for a .csv or .tsv with a column that has a usual name of picture paths (filepaths, filename, image,
/// id_code, ...), or, without a header, one that begins with a picture's name.
bool is_manifest(const std::filesystem::path& path, const ReadingOptions& options = {});

/// Opens a CSV that lists pictures and their labels, such as birds.csv of BIRDS-525, trainLabels.csv of
/// EyePACS, train.csv of APTOS and labels.csv of ELPV. Columns have usual names, or the options give their
/// names or positions, 1, 2, ... A path is searched in `images_folder` or, by default, in the folder of the
/// CSV and in folders there that have its name (with _images) or are called images, train_images or train; a
/// name without an ending is tried with those of pictures. These are items with a fault: a row with too few
/// or too many cells, without a path or a label, or without a split if other rows have one; a row whose file
/// does not exist or was listed before; and a picture that is not listed, in a folder of listed pictures.
/// Throws Error if there is no column of paths or labels, no row, fewer than two classes, or a class in
/// another split that no training row has.
std::unique_ptr<Source> open_manifest(const std::filesystem::path& file, const SourceOptions& options);

}  // namespace convoke::data_prep

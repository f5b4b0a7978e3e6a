#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True if `path` is a folder with a file that is named as MNIST's training images.
bool is_idx(const std::filesystem::path& path);

/// Opens a folder with the four files of MNIST (also Fashion-MNIST, KMNIST): {train,t10k}-images-idx3-ubyte
/// and {train,t10k}-labels-idx1-ubyte, plain or with .gz. Splits "train" and "test"; the number of classes is
/// the highest label + 1. Throws Error naming the file: missing, wrong magic number, truncated, corrupt gzip,
/// unequal numbers of images and labels, images of another size in the other split, fewer than 2 classes.
/// Damage within the images is found when they are read.
std::unique_ptr<Source> open_idx(const std::filesystem::path& folder, const SourceOptions& options);

}  // namespace convoke::data_prep

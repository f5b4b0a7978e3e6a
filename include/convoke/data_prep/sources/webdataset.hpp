#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True if `path` is a file *.tar, *.tar.gz or *.tgz, or a folder with one at any depth.
bool is_webdataset(const std::filesystem::path& path);

/// Opens the tar shards of a WebDataset. Consecutive files whose names are equal up to the first dot are one
/// sample: a picture (.jpg, .jpeg, .png, .bmp) and its label (.cls), a whole number or a text, which names
/// the class. The columns `path` and `label` give other endings, without the first dot. The names of shards
/// and folders give the splits. https://github.com/webdataset/webdataset
///
/// Throws Error naming the shard: not a tar archive, damaged, truncated; no sample with a picture or a label;
/// fewer than 2 classes. A sample with no picture or several, or without a label, is its item's fault.
std::unique_ptr<Source> open_webdataset(const std::filesystem::path& path, const SourceOptions& options);

}  // namespace convoke::data_prep

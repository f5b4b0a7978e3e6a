#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True if `path` is a file *.tar, *.tar.gz or *.tgz, or a folder with one at any depth.
bool is_webdataset(const std::filesystem::path& path);

/// Tar shards as WebDataset has them: files that follow each other and have the same name up to its first dot
/// are one sample, a picture (.jpg, .jpeg, .png, .bmp) and its label (.cls): a whole number, or a text, which
/// names the class. The columns `path` and `label` name other endings, without the first dot. Splits are told
/// by the names of shards and folders. https://github.com/webdataset/webdataset
///
/// Throws Error naming the shard: no tar archive, damaged, cut short; no sample with a picture or a label;
/// fewer than 2 classes. A sample without a picture, with several, or without a label is its item's fault.
std::unique_ptr<Source> open_webdataset(const std::filesystem::path& path, const SourceOptions& options);

}  // namespace convoke::data_prep

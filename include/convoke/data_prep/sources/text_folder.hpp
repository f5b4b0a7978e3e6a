#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True for a folder with a folder of .txt files for each class, possibly within folders of splits.
bool is_text_folder(const std::filesystem::path& path);

/// Opens texts in one file each, as IMDb's reviews in aclImdb: train/pos/*.txt, train/neg/*.txt,
/// test/pos/...; or pos/*.txt, neg/*.txt without splits. Classes are sorted by name. A folder `unsup` (texts
/// without labels) and files other than .txt are left out, and a note says so. Throws Error for fewer than 2
/// classes, and if a split lacks a class of another split. A file without a text has a fault.
std::unique_ptr<Source> open_text_folder(const std::filesystem::path& folder, const SourceOptions& options);

}  // namespace convoke::data_prep

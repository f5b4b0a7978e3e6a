#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True of a folder with a folder of .txt files for each class, maybe within folders of splits.
bool is_text_folder(const std::filesystem::path& path);

/// Texts in files of their own, as IMDb's reviews in aclImdb: train/pos/*.txt, train/neg/*.txt, test/pos/...;
/// or pos/*.txt, neg/*.txt without splits. Classes by name. A folder `unsup`, texts without a label, is left
/// out, and a note says so; so are files that are no .txt. Throws Error for fewer than 2 classes, and for a
/// split that lacks a class which another has. A file without a text has a fault.
std::unique_ptr<Source> open_text_folder(const std::filesystem::path& folder, const SourceOptions& options);

}  // namespace convoke::data_prep

#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// Opens `path` as the named kind of source. With an empty name: a CSV as what the columns are that `options`
/// name (paths of pictures, texts or features), anything else as the first kind that recognises it. A folder
/// that holds a CSV, and no samples of another kind or pictures without class folders, stands for the CSV.
/// Throws Error if there is nothing at `path`, no kind recognises it or none bears the name (listing the
/// kinds), several CSVs of a folder may be meant (naming them), or it is damaged.
std::unique_ptr<Source> open_source(const std::filesystem::path& path, const SourceOptions& options = {},
                                    const std::string& kind = {});

/// True if some kind of source recognises `path`.
bool is_source(const std::filesystem::path& path);

/// "idx", ...: for help texts.
std::vector<std::string> source_kinds();

}  // namespace convoke::data_prep

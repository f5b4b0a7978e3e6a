#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// Opens `path` as the named kind of source. An empty name means: for a CSV, the kind of the columns that
/// `options` name (paths of pictures, texts or features); for other paths, the first kind that recognizes
/// them. CSVs are looked at with the options of reading. A folder stands for the CSV in it if the folder
/// holds no samples of another kind, or pictures without class folders. Throws Error if `path` does not
/// exist, no kind recognizes it or has the name (listing the kinds), several CSVs of a folder fit (naming
/// them), or it is damaged.
std::unique_ptr<Source> open_source(const std::filesystem::path& path, const SourceOptions& options = {},
                                    const std::string& kind = {});

/// Returns what open_source() takes `path` for: its kind, and the CSV that a folder stands for. Throws Error
/// as open_source().
Assumption assumed_kind(const std::filesystem::path& path, const SourceOptions& options,
                        const std::string& kind);

/// True if any kind of source recognizes `path`.
bool is_source(const std::filesystem::path& path);

/// Returns "idx", ... for help texts.
std::vector<std::string> source_kinds();

}  // namespace convoke::data_prep

#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True for a CSV of requests (read_request_csv), a text dump of a Darshan log (read_darshan_dump), or a
/// folder with a folder of such files for each class, possibly within folders of splits.
bool is_io_traces(const std::filesystem::path& path);

/// Opens traces of I/O. A sample is a window of requests of a trace (SourceOptions::window), as a table's row
/// of the five features of io_features(). A dump of darshan-parser is one window: it has no requests. The
/// label is the name of the folder or, with `columns.label` or a single CSV, in a column of the CSV. The
/// windows of a file (or of a value of `columns.group`) form a group. Reads all requests at once. A file
/// without requests is left out, and a note says so. Throws Error if a file is damaged, and for fewer than 2
/// classes.
std::unique_ptr<Source> open_io_traces(const std::filesystem::path& path, const SourceOptions& options);

}  // namespace convoke::data_prep

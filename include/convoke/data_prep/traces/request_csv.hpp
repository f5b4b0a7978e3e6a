#pragma once
#include <filesystem>
#include <vector>

#include "convoke/data_prep/sources/source_options.hpp"
#include "convoke/data_prep/traces/io_features.hpp"

namespace convoke::data_prep {

/// True for a CSV with the columns time, operation, offset, size and file (in any order and case).
bool is_request_csv(const std::filesystem::path& file);

/// Reads a CSV with one request in each row: time (seconds), operation (read or write), offset and size
/// (bytes), and file (its name or number). Other columns, such as rank, are not used. With `labels`, the
/// label of each row is in `columns.label` or in a column with a usual name; `columns.group` names the column
/// of the program's run, if it is not empty. Requests of the same label and run are one trace; traces are in
/// the order of their first rows. Throws Error naming file and line for a cell that is not such a value, and
/// naming the file if a column is missing.
std::vector<Trace> read_request_csv(const std::filesystem::path& file, const ColumnOptions& columns,
                                    bool labels);

}  // namespace convoke::data_prep

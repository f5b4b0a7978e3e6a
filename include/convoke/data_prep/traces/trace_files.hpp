#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "convoke/data_prep/sources/source_options.hpp"
#include "convoke/data_prep/traces/io_features.hpp"

namespace convoke::data_prep {

/// The I/O of a job, from the text of its Darshan log.
struct DarshanDump {
  std::vector<Request> requests = {};       ///< of darshan-dxt-parser, in the order of time
  std::optional<IoFeatures> counters = {};  ///< of darshan-parser, over the whole job
};

/// True if the file begins as the output of darshan-parser or darshan-dxt-parser.
bool is_darshan_dump(const std::filesystem::path& file);

/// Reads the output of darshan-dxt-parser (requests of the module DXT_POSIX; those of MPI-IO are among them)
/// or of darshan-parser (counters of the module POSIX). Both results are empty if the job did no such I/O.
/// Darshan 3. Equal start times (to 0.1 ms) keep the order of the dump.
///
/// Counters hold less than requests do. The mean size and the number of files are exact. The smallest and the
/// largest size are exact if the four most common sizes of each file include them, else ends of a bin of
/// Darshan's histogram. The distance counts the four most common gaps of each file; jumps back count as 0.
///
/// Throws Error naming file and line if a line cannot be read, or if a file has fewer requests than
/// announced.
DarshanDump read_darshan_dump(const std::filesystem::path& file);

/// True for a CSV with the columns time, operation, offset, size and file (in any order and case).
bool is_request_csv(const std::filesystem::path& file, const ReadingOptions& options);

/// Reads a CSV with one request in each row: time (seconds), operation (read or write), offset and size
/// (bytes), and file (its name or number). Other columns, such as rank, are not used. With `labels`, the
/// label of each row is in `options.columns.label` or in a column with a usual name; `options.columns.group`
/// names the column of the program's run, if it is not empty. Requests of the same label and run are one
/// trace; traces are in the order of their first rows. Throws Error naming file and line for a cell that is
/// not such a value, and naming the file if a column is missing.
std::vector<Trace> read_request_csv(const std::filesystem::path& file, const SourceOptions& options,
                                    bool labels);

}  // namespace convoke::data_prep

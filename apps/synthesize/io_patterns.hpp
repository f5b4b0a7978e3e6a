#pragma once
#include "synthesize/stand_in.hpp"

namespace convoke::data_prep {

/// What an I/O server sees of three access patterns (a file per process, a shared file in contiguous parts, a
/// shared file strided by requests): one table of the smallest, mean and largest request, the number of
/// files, and the mean distance between neighbouring requests to the same file, in bytes. Each row comes from
/// a simulation, request by request: processes with several requests under way or in step, requests that are
/// cut at the largest transfer, windows of some hundred arrivals.
std::unique_ptr<StandIn> make_io_patterns(const SynthesizeOptions& options);

}  // namespace convoke::data_prep

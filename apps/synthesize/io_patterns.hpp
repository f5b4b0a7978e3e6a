#pragma once
#include "synthesize/stand_in.hpp"

namespace convoke::data_prep {

/// A table of three access patterns as an I/O server sees them (a file per process, a shared file in
/// contiguous parts, a shared file strided by requests): the smallest, mean and largest request, the number
/// of files, and the mean distance between neighbouring requests to the same file, in bytes. Each row comes
/// from a simulation of single requests: processes with several pending requests or in step, requests that
/// are cut at the largest transfer, windows of some hundred arrivals.
std::unique_ptr<StandIn> make_io_patterns(const SynthesizeOptions& options);

}  // namespace convoke::data_prep

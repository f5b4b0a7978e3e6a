#pragma once
#include <cstddef>
#include <filesystem>

#include "convoke/core/timeline.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/mpi/root_clock.hpp"

namespace convoke::run {

/// Returns how many events within steps a thread should keep, if all ranks together have `all_threads`:
/// 32,768 (1 MiB), or fewer so that the trace of all ranks has at most two million events, some 250 MB.
std::size_t trace_events(int all_threads);

/// Writes what the threads of all ranks did as one trace for https://ui.perfetto.dev or chrome://tracing, by
/// rank 0's clock: Trace Event Format, complete events ("X") in microseconds from the first event on, pid =
/// rank, tid = number of the thread's track; buckets in flight have rows of their own. `begin`: comparison of
/// the clocks before the events. Ranks send their events to rank 0 one after the other, 1 MiB at a time. No
/// other thread may use `timeline`. Collective. Throws Error on all ranks if the file cannot be written.
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
void write_trace(const std::filesystem::path& file, const Timeline& timeline, const mpi::ClockReading& begin,
                 const mpi::Communicator& world);

}  // namespace convoke::run

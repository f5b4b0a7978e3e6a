#pragma once
#include <string>

// What is particular to Open MPI: its settings, its launcher and its banners. With another MPI library,
// nothing here has an effect.

namespace convoke::mpi::open_mpi {

/// Sets variables that Open MPI reads when it starts: how ranks of a node exchange messages, by which
/// algorithm it sums, where its segments of shared memory are, and that it starts no daemon. The user's
/// settings have priority.
void choose_settings();

/// While it exists, Open MPI 4 does not look for the libraries of fast networks (UCX, libfabric) if all ranks
/// are on this host. They exchange messages through shared memory (ob1), to which `choose_settings` applies.
/// Looking takes most of MPI_Init: `convoke info` takes 0.27 instead of 0.06 s as one process, and 0.38 and
/// 0.51 instead of 0.18 and 0.28 s on 2 and 4 ranks (2 cores of an AMD EPYC without such a network). The
/// user's setting has priority. Let it end after MPI_Init: a job that this process starts may have ranks on
/// other hosts.
class LocalMessages {
 public:
  LocalMessages();
  ~LocalMessages();
  LocalMessages(const LocalMessages&) = delete;
  LocalMessages& operator=(const LocalMessages&) = delete;

 private:
  bool chosen_;
};

/// Takes the memory of the segment that Open MPI has made for this rank. Its pages take room only when
/// messages first touch them: if /dev/shm were full by then, the rank would end without a message. Call it
/// after MPI_Init. Throws Error if there is no room.
void take_segment();

/// After any failure of a rank, prterun, the launcher of Open MPI 5, prints a banner. Only if it is asked to
/// end the job itself, as by Ctrl-C, does it end without output, and exits with 1. This is possible if it is
/// our parent, on its own node. Returns if it is not, or does not react.
void ask_prterun_to_end();

/// Open MPI's MPI_Abort prints a banner of eight lines after our message, and no setting of the aborting
/// process suppresses it. All its banners are printed through one function pointer, opal_show_help, which
/// this function replaces by one that does nothing. Returns false and changes nothing in versions in which
/// this was not tested, or without such a pointer; then the banner appears. `library_version`: from Session.
bool silence_banners(const std::string& library_version);

}  // namespace convoke::mpi::open_mpi

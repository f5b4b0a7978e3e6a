#pragma once
namespace convoke::os {

/// From now on, a write to a peer that is gone fails with EPIPE instead of ending this process by SIGPIPE, so
/// that MPI can report which peer it has lost. Standard output and standard error are exceptions: if their
/// reader is gone (`convoke train ... | head`), the signal still ends the process. A program that chose what
/// SIGPIPE does keeps its choice. Child processes begin with the signal's default action.
void survive_broken_pipes();

}  // namespace convoke::os

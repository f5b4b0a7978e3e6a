#pragma once
#include <string>

namespace convoke::mpi {

/// Open MPI's MPI_Abort prints a banner of eight lines after our message, and no setting of the aborting
/// process suppresses it. All its banners are printed through one function pointer, opal_show_help, which
/// this function replaces by one that does nothing. Returns false and changes nothing in versions in which
/// this was not tested, or without such a pointer; then the banner appears. `library_version`: from Session.
bool silence_banners(const std::string& library_version);

}  // namespace convoke::mpi

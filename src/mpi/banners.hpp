#pragma once
#include <string>

namespace convoke::mpi {

/// MPI_Abort of Open MPI prints a banner of eight lines after our message, and no setting of the process that
/// aborts leaves it out. All its banners go through one pointer to a function, though, opal_show_help: from
/// here on that prints nothing. False, and nothing is changed, in versions where this was not tried and where
/// there is no such pointer: the banner appears. `library_version`: as Session says it.
bool silence_banners(const std::string& library_version);

}  // namespace convoke::mpi

#pragma once
#include "convoke/data_prep/prepare.hpp"
#include "convoke/mpi/communicator.hpp"

namespace convoke::app {

/// data_prep::prepare by all ranks together, with progress; rank 0 then prints what there is now. Collective.
data_prep::PrepareReport prepare_source(data_prep::PrepareOptions options, const mpi::Communicator& world);

}  // namespace convoke::app

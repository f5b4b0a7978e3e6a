#pragma once

namespace convoke::mpi {

/// The tags of all messages between two ranks. Each belongs to one exchange, so that a message never reaches
/// another one. They begin at a number that other programs in the same communicator hardly use, and are below
/// the smallest MPI_TAG_UB, 32767.
enum class Tag : int {
  kGather = 7400,     ///< Communicator::gather
  kPrinted,           ///< mpi::Session: rank 0 has printed its error
  kRootClock,         ///< mpi::read_root_clock
  kStopCall,          ///< run::StopCalls
  kTrace,             ///< run::write_trace
  kStragglerLink,     ///< run::measure_node_links
  kAskMember,         ///< train::MemberQueue: a group is free
  kMember,            ///< train::MemberQueue: the member that it trains next
  kMemberParameters,  ///< train::MemberExchange
  kHostClock,         ///< doctor: the clocks of hosts
  kNeighbor,          ///< doctor: the memory of the neighbor
  kLink,              ///< doctor: the links between hosts
  kPackedSum,         ///< sync::PackedSum
};

}  // namespace convoke::mpi

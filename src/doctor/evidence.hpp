#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/machine.hpp"

namespace convoke::doctor {

/// The ranks of a node, ascending.
std::vector<int> ranks_of(std::span<const run::Placement> placements, int node);
/// The nodes, by their lowest ranks.
std::vector<int> nodes_of(std::span<const run::Placement> placements);

/// The element of `rank` in a list by rank; of a node, it is that of its lowest rank.
template <class List>
const auto& of_rank(const List& by_rank, int rank) {
  return by_rank[static_cast<std::size_t>(rank)];
}

/// The settings of all ranks, at the root, by rank; empty on other ranks. Collective.
std::vector<Settings> gather(const Settings& mine, const mpi::Communicator& world);

/// The settings of the first rank of each host, at the root, in the order of these ranks. Collective.
std::vector<Settings> gather_hosts(const Settings& mine, const run::Machine& machine,
                                   const mpi::Communicator& world);

/// The structs whose settings were gathered.
template <class Struct, std::size_t kCount>
std::vector<Struct> structs_of(const std::array<Field<Struct>, kCount>& fields,
                               const std::vector<Settings>& gathered) {
  std::vector<Struct> all;
  for (const Settings& seen : gathered) all.push_back(from_settings(fields, seen, "evidence"));
  return all;
}

/// The value of a variable of Open MPI ("btl_tcp_if_include"), or `otherwise`. The environment comes first,
/// which has the options of mpirun too. With `ask`, the library is asked for the settings in its files, which
/// takes a quarter of a second the first time.
std::string mpi_setting(const std::string& name, const std::string& otherwise, bool ask);

/// Returns "1.2 GiB/s".
std::string rate_text(double bytes_per_second);

}  // namespace convoke::doctor

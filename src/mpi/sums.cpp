#include "convoke/mpi/sums.hpp"

#include <bit>

namespace convoke::mpi {

// By default, Open MPI sums in place along a tree, where rank 0 sends and receives the whole array
// log2(ranks) times. In the other algorithms each rank sends less than twice the array, in Rabenseifner's
// only if there are 2^k ranks; a ring of many ranks waits for many messages. Measured on hosts with links of
// 100 Mbit/s, one thread a rank, Open MPI 4.1, images/s of mnist-sync with a batch of 64, for 6 and 12 ranks
// 192 (apps/bench/sums_over_links.sh):
//
//     ranks             2      3      4      6      8     12     4 at 1 Gbit/s
//     tree          1,951    805    621  1,312    355    932     3,572
//     Rabenseifner  2,027    815  1,357  2,015  1,168  1,838     8,818
//     ring          2,009  1,490  1,355  3,168  1,160  2,989     6,058
Sums sums_for(int ranks) {
  constexpr int kLongestRing = 32;
  if (ranks <= 2) return Sums::kTree;
  const bool power_of_two = std::has_single_bit(static_cast<unsigned>(ranks));
  return power_of_two || ranks > kLongestRing ? Sums::kRabenseifner : Sums::kRing;
}

}  // namespace convoke::mpi

#pragma once
#include <mpi.h>

#include <atomic>
#include <utility>

// Functions of libraries that mpi_test replaces, to count their calls and to let a test put its own function
// in front.
namespace replaced {

/// Calls by this rank since a test has set them to 0.
struct Counts {
  int allreduce = 0, barrier = 0, reduce = 0;                                   // collectives that block
  int iallgather = 0, iallreduce = 0, ialltoall = 0, ibarrier = 0, ibcast = 0;  // and that do not
  int comm_split = 0, comm_free = 0;                                            // comm_split: of any form
  int h5fopen = 0;

  int collectives() const {
    return allreduce + barrier + reduce + iallgather + iallreduce + ialltoall + ibarrier + ibcast;
  }
};
inline Counts counts;

/// The function that each of these calls runs. While an InFront object exists, the call runs another
/// function, or gives a value.
inline decltype(&MPI_Ialltoall) ialltoall = PMPI_Ialltoall;
inline decltype(&MPI_Test) test = PMPI_Test;

template <class Function>
class InFront {
 public:
  InFront(Function& call, Function function) : call_(call), before_(std::exchange(call, function)) {}
  InFront(const InFront&) = delete;
  InFront& operator=(const InFront&) = delete;
  ~InFront() { call_ = before_; }

 private:
  Function& call_;
  Function before_;
};

/// While this is set, each look at a clock takes 50 ms, in all threads.
inline std::atomic<bool> slow_clock{false};

}  // namespace replaced

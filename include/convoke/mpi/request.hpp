#pragma once
#include <vector>

namespace convoke::mpi {

/// A non-blocking operation under way. Move only; must be waited for before it is destroyed.
class Request {
 public:
  Request();
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;
  ~Request();

  /// True when the operation is done (or was never started); makes progress on all that is under way.
  bool test();
  void wait();

 private:
  friend class Communicator;
  alignas(8) unsigned char handle_[8];  ///< an MPI_Request, so that starting one allocates nothing
  std::vector<Request> pieces_;         ///< the pieces after the first, of a count beyond 2^30
};

}  // namespace convoke::mpi

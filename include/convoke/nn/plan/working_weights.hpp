#pragma once
#include <cstddef>
#include <memory>

#include "convoke/nn/plan/parameters.hpp"

namespace convoke::nn {

/// Copies of a rank's weights in the layouts and the type that its primitives want where those differ from
/// the arena's: bf16, the transposed blocks of a data gradient. They follow from the parameters alone, so
/// they are made once after an update and shared by all plans and threads, instead of once per lane.
class WorkingWeights {
 public:
  /// `parameters`: layout->size() floats, read by every refresh; must outlive this.
  WorkingWeights(std::shared_ptr<const ParameterLayout> layout, const float* parameters);
  ~WorkingWeights();
  WorkingWeights(const WorkingWeights&) = delete;
  WorkingWeights& operator=(const WorkingWeights&) = delete;

  /// True if no primitive wants a copy.
  bool empty() const;
  /// What Network::bind takes. Stays where it is.
  const std::byte* data() const;

  /// Makes the copies anew, part `part` of `parts`, which may run at the same time on as many threads.
  /// Allocates nothing.
  void refresh(int part = 0, int parts = 1) const;

 private:
  struct Copies;
  std::unique_ptr<Copies> copies_;
};

}  // namespace convoke::nn

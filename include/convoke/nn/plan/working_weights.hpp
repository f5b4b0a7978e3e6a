#pragma once
#include <cstddef>
#include <memory>

#include "convoke/nn/plan/parameters.hpp"

namespace convoke::nn {

/// Copies of a rank's weights in the layouts and the type that its primitives need, where these differ from
/// the arena's: bf16, or transposed blocks for a data gradient. They depend on the parameters alone, so they
/// are made once after an update and shared by all plans and threads, instead of once per micro-batch.
class WorkingWeights {
 public:
  /// `parameters`: layout->size() floats, which every refresh reads; must outlive this object.
  WorkingWeights(std::shared_ptr<const ParameterLayout> layout, const float* parameters);
  ~WorkingWeights();
  WorkingWeights(const WorkingWeights&) = delete;
  WorkingWeights& operator=(const WorkingWeights&) = delete;

  /// True if no primitive needs a copy.
  bool empty() const;
  /// Returns the argument of Network::bind. The address never changes.
  const std::byte* data() const;

  /// Makes the copies of part `part` of `parts`. The parts may run at the same time on as many threads.
  /// Allocates nothing.
  void refresh(int part = 0, int parts = 1) const;

 private:
  struct Copies;
  std::unique_ptr<Copies> copies_;
};

/// Returns the bytes of the WorkingWeights of a layout.
std::size_t predict_working_bytes(const ParameterLayout& layout);

}  // namespace convoke::nn

#include "interop/onnx/fold.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace convoke::interop::onnx {
namespace {

struct Reduction {
  std::string_view name;
  float start;
  float (*add)(float, float);
  float (*finish)(float, float);
};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::array kReductions{
    Reduction{"ReduceSum", 0, [](float s, float x) { return s + x; }, [](float s, float) { return s; }},
    Reduction{"ReduceMean", 0, [](float s, float x) { return s + x; },
              [](float s, float n) { return s / n; }},
    Reduction{"ReduceProd", 1, [](float s, float x) { return s * x; }, [](float s, float) { return s; }},
    Reduction{"ReduceMax", -kInfinity, [](float s, float x) { return std::max(s, x); },
              [](float s, float) { return s; }},
    Reduction{"ReduceMin", kInfinity, [](float s, float x) { return std::min(s, x); },
              [](float s, float) { return s; }},
    Reduction{"ReduceL1", 0, [](float s, float x) { return s + std::abs(x); },
              [](float s, float) { return s; }},
    Reduction{"ReduceL2", 0, [](float s, float x) { return s + x * x; },
              [](float s, float) { return std::sqrt(s); }},
    Reduction{"ReduceSumSquare", 0, [](float s, float x) { return s + x * x; },
              [](float s, float) { return s; }},
};

Array reduced(Call& call, const Reduction& op, const Array& array) {
  const std::size_t rank = array.shape.rank();
  const std::vector<std::size_t> axes = reduced_axes(call, rank);
  const auto gone = [&](std::size_t axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
  std::vector<std::int64_t> kept, left;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    kept.push_back(gone(axis) ? 1 : array.shape[axis]);
    if (!gone(axis) || call.integer("keepdims", 1) != 0) left.push_back(kept.back());
  }
  const Shape over(kept);
  const std::vector<std::size_t> indices = broadcast_indices(over, array.shape);
  if (array.whole && op.name == "ReduceProd") {  // of extents, of which one may be the batch
    Array result{.shape = Shape(left), .whole = true, .numbers = {}, .floats = {}};
    result.numbers.assign(static_cast<std::size_t>(over.elements()), Dim{1});
    for (std::size_t i = 0; i < indices.size(); ++i) {
      result.numbers[indices[i]] = multiply(result.numbers[indices[i]], array.numbers[i]);
    }
    return result;
  }
  const Array from = array.as_floats();
  Array result{.shape = Shape(left), .whole = false, .numbers = {}, .floats = {}};
  result.floats.assign(static_cast<std::size_t>(over.elements()), op.start);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    float& sum = result.floats[indices[i]];
    sum = op.add(sum, from.floats[i]);
  }
  const auto count =
      static_cast<float>(indices.size()) / static_cast<float>(std::max<std::size_t>(1, result.floats.size()));
  for (float& sum : result.floats) sum = op.finish(sum, count);
  return array.whole ? result.as_whole() : result;
}

}  // namespace

std::vector<std::size_t> reduced_axes(const Call& call, std::size_t rank) {
  const auto list = call.list("axes", 1);
  if (list && !list->empty()) return call.axes(*list, rank);
  std::vector<std::size_t> all(call.integer("noop_with_empty_axes", 0) != 0 ? 0 : rank);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

bool fold_reduction(Call& call) {
  const Reduction* reduction = entry_for(call, kReductions);
  if (reduction != nullptr) give_array(call, reduced(call, *reduction, array_of(call)));
  return reduction != nullptr;
}

}  // namespace convoke::interop::onnx

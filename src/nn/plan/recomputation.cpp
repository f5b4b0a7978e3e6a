#include "nn/plan/recomputation.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "nn/plan/compiled_plan.hpp"

namespace convoke::nn {
namespace {

// Smaller plans recompute nothing. This is a few times the cache of a core; the plans of small CNNs are far
// below it.
constexpr std::size_t kWorthwhileBytes = std::size_t{64} << 20;

bool uses(const Step& step, Ref ref) {
  return std::find(step.uses.begin(), step.uses.end(), ref) != step.uses.end();
}

/// True if the memory holds only one value, which backward reads.
bool suits(const CompiledPlan& plan, Ref value) {
  const auto writes = [&](const Step& step) { return step.output && step.output.ref == value; };
  return std::count_if(plan.forward.begin(), plan.forward.end(), writes) == 1 &&
         std::any_of(plan.backward.begin(), plan.backward.end(),
                     [&](const Step& step) { return uses(step, value); });
}

}  // namespace

void recompute(CompiledPlan& plan, std::vector<Step> offers) {
  const auto recomputed = [&](Ref ref) {
    return ref.place == Ref::Place::kActivation && plan.recomputed.contains(ref.id);
  };
  std::erase_if(offers, [&](const Step& offer) {
    return !suits(plan, offer.output.ref) || std::ranges::any_of(offer.uses, recomputed);
  });
  std::size_t bytes = 0;
  for (const Step& offer : offers) bytes += offer.output.desc.get_size();
  if (bytes < kWorthwhileBytes) return;
  // Starts with the last offer, which may read the result of an earlier one.
  for (auto offer = offers.rbegin(); offer != offers.rend(); ++offer) {
    const Ref value = offer->output.ref;
    const auto reader = std::find_if(plan.backward.begin(), plan.backward.end(),
                                     [&](const Step& step) { return uses(step, value); });
    plan.backward.insert(reader, std::move(*offer));
    plan.recomputed.insert(value.id);
  }
}

}  // namespace convoke::nn

#pragma once
#include <vector>

namespace convoke::nn {

struct CompiledPlan;
struct Step;

/// Cuts the forward list of a plan into segments, keeps what crosses a cut, and computes the other values of
/// a segment again before backward needs them; all segments but the last (T. Chen et al., "Training Deep Nets
/// with Sublinear Memory Cost", 2016). The steps are those of forward, so all results keep their bits. Tries
/// several lengths of segments, and takes the one whose plan needs the least memory; none if no one saves
/// any. `offers`: cheaper steps for some values (PlanSteps::offer_recomputation).
void checkpoint_gradients(CompiledPlan& plan, const std::vector<Step>& offers);

}  // namespace convoke::nn

#pragma once
#include <vector>

namespace convoke::nn {

struct CompiledPlan;
struct Step;

/// Cuts the forward list of a plan into segments, keeps what crosses a cut, and computes the other values of
/// a segment again before backward needs them; all segments but the last (T. Chen et al., "Training Deep Nets
/// with Sublinear Memory Cost", 2016). The steps are those of forward, so all results keep their bits. Tries
/// several lengths of segments, and takes the one whose plan needs the least memory; none if no one saves
/// any. `offers`: cheaper steps for some values (PlanBuilder::offer_recomputation).
void checkpoint_gradients(CompiledPlan& plan, const std::vector<Step>& offers);

/// Puts the recomputations that the layers of a plan offer into its backward list, each before the
/// first step that reads the value, and records them in plan.recomputed. Their memory is free in between (T.
/// Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016; for batch norms: S. Rota Bulo et al.,
/// "In-Place Activated BatchNorm", CVPR 2018). Uses all offers or none, depending on their total size: a
/// small plan stays in the cache, a large one does not in any case. Leaves out those that read or write what
/// checkpoint_gradients() has recomputed.
void recompute(CompiledPlan& plan, std::vector<Step> offers);

}  // namespace convoke::nn

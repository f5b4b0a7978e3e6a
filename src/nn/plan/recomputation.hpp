#pragma once

namespace convoke::nn {

class PlanBuilder;

/// Puts the recomputations that the layers of a compiled plan offer into its backward list, each before the
/// first step that reads the value, and notes them in plan.recomputed: the memory is free in between (T. Chen
/// et al., "Training Deep Nets with Sublinear Memory Cost", 2016; of batch norms: S. Rota Bulo et al.,
/// "In-Place Activated BatchNorm", CVPR 2018). All of them or none, by their size alone: a small plan stays
/// near the core, a large one goes through memory anyway.
void recompute(PlanBuilder& plan);

}  // namespace convoke::nn

#pragma once
#include <memory>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/sync/strategy.hpp"

namespace convoke::sync {

/// Local SGD: the ranks train for some steps on their own, then they average their models (Stich, "Local SGD
/// converges fast and communicates little", 2019). With `after_epochs` they sum their gradients before (post-
/// local SGD: Lin et al., "Don't use large mini-batches, use local SGD", 2020).
std::unique_ptr<const Strategy> read_local_sgd(SettingsReader& settings);
std::vector<KeyDescription> local_sgd_keys();

}  // namespace convoke::sync

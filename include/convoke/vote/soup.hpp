#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace convoke::vote {

/// Returns the validation accuracy of the model whose parameters are the sum of the members' parameters, each
/// times its share. `shares`: one for each member; their sum is 1.
using Trial = std::function<double(std::span<const double> shares)>;

/// A soup: one model whose parameters are a weighted mean of the members' parameters (Wortsman et al., "Model
/// soups", ICML 2022). Returns the share of each member; their sum is 1. `accuracies`: the validation
/// accuracy of each member, at least one; NaN: unknown.
using Soup = std::vector<double> (*)(std::span<const double> accuracies, const Trial& trial);

/// What a soup depends on, besides the parameters.
enum class SoupNeeds { kNothing, kAccuracies, kTrials };

/// Returns "uniform" (equal shares), "weighted" (shares in proportion to the accuracies) or "greedy" (the
/// members join in descending order of accuracy, each only if the accuracy of the mean does not fall; equal
/// shares for those that join). Members of unknown accuracy have no share in a weighted soup and come last in
/// a greedy one. Throws Error listing them.
Soup find_soup(const std::string& name);
SoupNeeds needs_of_soup(const std::string& name);

std::vector<std::string> soup_names();

}  // namespace convoke::vote

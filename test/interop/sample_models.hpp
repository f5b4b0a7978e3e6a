#pragma once
#include <span>
#include <string>
#include <string_view>

#include "convoke/run/model_file.hpp"

// Small models for exports: at least one for each layer. Their weights depend on names alone
// (comparison_weights).

struct SampleModel {
  std::string name;  ///< the layer, and what is special: "max_pool-ceil"
  std::string json;  ///< { "input": [3, 8, 9], "layers": [...] }
};

/// Returns all of them, one a line of sample_models.txt.
std::span<const SampleModel> sample_models();
/// Returns the one called `name`.
const SampleModel& sample_model(std::string_view name);
/// Makes a model set of it, of so many members with different weights. They have class
/// names and a normalization; an output that is no vector is flattened, and a channel_scale
/// follows layers without parameters, since networks have some.
convoke::run::ModelSet make_sample(const SampleModel& sample, int members = 1);

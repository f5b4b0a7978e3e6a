#pragma once
#include <filesystem>
#include <string>

#include "convoke/data/dataset.hpp"
#include "convoke/run/model_file.hpp"

namespace convoke::train {

/// Throws Error naming both if samples or classes of a dataset are not those of a model. `model_name`: the
/// file or recipe that the model comes from.
void require_fit(const run::ModelDescription& model, const std::string& model_name,
                 const data::DatasetInfo& dataset, const std::filesystem::path& dataset_file);

/// Throws Error if the dataset has no such split. For splits that are read only later: better to know before
/// training.
void require_split(const std::filesystem::path& dataset_file, const std::string& split);

}  // namespace convoke::train

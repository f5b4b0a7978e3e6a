#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "convoke/data/dataset.hpp"
#include "convoke/run/model_file.hpp"

namespace convoke::train {

/// Throws Error naming both if shape or type of the samples, or the classes, of a dataset are not those of a
/// model. `model_name`: the file or recipe that the model comes from.
void require_fit(const run::ModelDescription& model, const std::string& model_name,
                 const data::DatasetInfo& dataset, const std::filesystem::path& dataset_file);

/// Throws Error if the dataset file has no such split, or its samples are not of `training`'s type and shape.
/// For splits that are read only later: better to know before training.
void require_split(const data::DatasetInfo& training, const std::filesystem::path& dataset_file,
                   const std::string& split);

/// Throws Error if a split has a token that an embedding of `vocabulary` rows lacks. `model_name` as above.
void require_vocabulary(std::int64_t vocabulary, const std::string& model_name, const data::Dataset& dataset,
                        const std::string& split);

/// The same for every embedding of a graph; nothing where it has none.
void require_vocabulary(const nn::Graph& graph, const std::string& model_name, const data::Dataset& dataset,
                        const std::string& split);

/// The same for a split that is read only later, which is read for that unless the file itself says that no
/// token is too large.
void require_vocabulary(const nn::Graph& graph, const std::string& model_name, const data::DatasetInfo& info,
                        const std::filesystem::path& dataset_file, const std::string& split);

}  // namespace convoke::train

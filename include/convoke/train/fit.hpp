#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "convoke/data/dataset.hpp"
#include "convoke/engine/step_engine.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/run/model_file.hpp"

namespace convoke::train {

/// Returns how many tokens, 0 and up, all embeddings of a graph know; empty if it has none.
std::optional<std::int64_t> least_vocabulary(const nn::Graph& graph);

/// Throws Error that names both sides if the shape or type of the samples, or the classes, of a dataset
/// differ from those of a model, the classes from the weights of its loss, or 8-bit images from the measured
/// numbers of its training. `model_name`: the file or recipe of the model.
void require_fit(const run::ModelDescription& model, const std::string& model_name,
                 const data::DatasetInfo& dataset, const std::filesystem::path& dataset_file);

/// Throws Error naming both sides if a class of the dataset has another number in the model: the labels would
/// mean other classes. Returns a note if the names differ otherwise ("tench" and "n01440764"); empty if they
/// do not, or if one side has no names. `model_name` as above.
std::string require_same_classes(const run::ModelDescription& model, const std::string& model_name,
                                 const data::DatasetInfo& dataset, const std::filesystem::path& dataset_file);

/// Throws Error if the dataset file lacks this split, or its samples differ from `training` in type or shape.
/// Use it before training for splits that are read only later.
void require_split(const data::DatasetInfo& training, const std::filesystem::path& dataset_file,
                   const std::string& split);

/// Throws Error if a split has a token that is too large for an embedding of `vocabulary` rows. `model_name`
/// as above.
void require_vocabulary(std::int64_t vocabulary, const std::string& model_name, const data::Dataset& dataset,
                        const std::string& split);

/// Checks a split in the same way for every embedding of a graph; does nothing if the graph has no embedding.
void require_vocabulary(const nn::Graph& graph, const std::string& model_name, const data::Dataset& dataset,
                        const std::string& split);

/// Checks a split that is read only later. Reads the split unless the file itself says that no token is too
/// large.
void require_vocabulary(const nn::Graph& graph, const std::string& model_name, const data::DatasetInfo& info,
                        const std::filesystem::path& dataset_file, const std::string& split);

/// Returns the name of a trained batch-norm node that has one value per channel in each sample, so that it
/// needs at least two samples; empty if there is none. A frozen batch norm uses its running statistics and is
/// not considered.
std::string single_value_batch_norm(const nn::Graph& graph);

/// Throws Error if such a batch norm would see a single sample: in micro-batches of one sample, or in the
/// smaller micro-batch at the end of an epoch of `samples` training samples. The variance of one sample is 0,
/// so the output would be constant (PyTorch refuses it too). A synchronized batch norm sees the whole batch
/// or, if `replicas` > 1 ranks train models of their own, a rank's share of it. `whose`: the run or member
/// that the message names.
void require_batch_statistics(const nn::Graph& graph, const engine::EngineOptions& engine,
                              std::int64_t samples, const std::string& whose, int replicas = 1);

}  // namespace convoke::train

#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/batch_loader.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/nn/losses/loss.hpp"
#include "convoke/nn/plan/parameters.hpp"

namespace convoke::run {

/// What a model is besides its weights: enough to label a picture, a text or a row.
struct ModelDescription {
  nn::Graph graph;
  data::Normalization normalization;
  std::vector<std::string> class_names;               ///< empty or one per class
  nn::LossPtr loss = nn::default_loss();              ///< what its outputs mean
  std::int64_t class_count = 0;                       ///< 0: one for each output of the graph
  nn::Precision precision = nn::Precision::kFloat32;  ///< that it was trained in
  std::string preparation =
      {};  ///< JSON: how raw texts, rows or pictures become samples; that of the dataset

  std::int64_t classes() const { return class_count > 0 ? class_count : graph.output_shape().elements(); }
  /// The name of a class, or its number where there are no names.
  std::string class_name(std::int64_t label) const;
};

/// One trained model: canonical parameters (see canonical_parameters) and where they come from.
struct Member {
  std::int64_t index = 0;
  std::uint64_t seed = 0;
  std::string shard = "full";  ///< how its training samples were chosen
  std::int64_t training_samples = 0;
  double validation_accuracy = std::numeric_limits<double>::quiet_NaN();  ///< NaN: no validation
  std::vector<float> parameters;
};

/// The models of a file: one, or the members of an ensemble. They share the description.
struct ModelSet {
  ModelDescription description;
  std::vector<Member> members;
  bool ensemble = false;  ///< an ensemble's file, if only of one member
};

/// A validation of a model that is being trained.
struct Validated {
  std::int64_t step = 0;  ///< since the start
  double loss = std::numeric_limits<double>::quiet_NaN();
  double accuracy = std::numeric_limits<double>::quiet_NaN();
};

/// Writes model.h5, atomically. The file depends on nothing but its arguments: equal models are equal byte
/// for byte, so facts that differ between runs with equal results are not in it. `parameters`: canonical.
/// `validated`: what is known of it, if it was kept for that. `before_it_counts`: called when it is complete,
/// but does not bear its name yet. Throws Error naming the file.
void write_model(const std::filesystem::path& file, const ModelDescription& description,
                 std::span<const float> parameters, const std::optional<Validated>& validated = {},
                 const std::function<void()>& before_it_counts = {});

/// What a model file says of its validation; nothing if it does not, or cannot be read.
std::optional<Validated> validated_in(const std::filesystem::path& file);

/// Writes ensemble.h5, atomically: the members with their facts.
void write_ensemble(const std::filesystem::path& file, const ModelDescription& description,
                    std::span<const Member* const> members);

/// Reads model.h5 or ensemble.h5; given a run folder, the one that it holds. Throws Error naming the file for
/// one that is missing, of another program, of a newer format, truncated, or damaged (checksum).
ModelSet load_models(const std::filesystem::path& file_or_run);

/// The file that load_models would read. Throws Error if there is none.
std::filesystem::path find_model_file(const std::filesystem::path& file_or_run);

}  // namespace convoke::run

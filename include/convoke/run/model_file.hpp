#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/batch_loader.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/nn/graph.hpp"
#include "convoke/nn/losses/loss.hpp"
#include "convoke/nn/plan/parameters.hpp"

namespace convoke::run {

/// The description of a model except its weights: enough to label a picture, a text or a row.
struct ModelDescription {
  nn::Graph graph;
  data::Normalization normalization;
  std::vector<std::string> class_names;         ///< empty or one per class
  nn::LossPtr loss = nn::default_loss();        ///< gives the outputs their meaning
  std::int64_t class_count = 0;                 ///< 0: one for each output of the graph
  std::optional<nn::Precision> precision = {};  ///< used in training; of other programs' models unknown
  std::string preparation = {};  ///< JSON, from the dataset: how raw texts, rows or pictures become samples
  /// Nothing says that the outputs are logits, as is assumed: a prediction looks at the first samples.
  bool outputs_assumed = false;
  /// Trained on images of measured numbers (float32): samples in 0..255, as pictures are, have other units.
  bool float_images = false;

  std::int64_t classes() const { return class_count > 0 ? class_count : graph.output_shape().elements(); }
  /// Returns the name of a class, or its number if the classes have no names.
  std::string class_name(std::int64_t label) const;
  /// Returns a loader of samples as the network takes them.
  data::BatchLoader loader(const data::Split& split) const {
    return {split, graph.input_shape(), normalization};
  }
};

/// One trained model: canonical parameters (see canonical_parameters) and their origin.
struct Member {
  std::int64_t index = 0;
  std::uint64_t seed = 0;
  std::string shard = "full";  ///< how its training samples were chosen
  std::int64_t training_samples = 0;
  double validation_accuracy = std::numeric_limits<double>::quiet_NaN();  ///< NaN: no validation
  std::vector<float> parameters;
};

/// The models of a file: one model, or the members of an ensemble. They share the description.
struct ModelSet {
  ModelDescription description;
  std::vector<Member> members;
  bool ensemble = false;  ///< true for an ensemble, even with one member
};

/// A validation of a model during training.
struct Validated {
  std::int64_t step = 0;  ///< since the start
  double loss = std::numeric_limits<double>::quiet_NaN();
  double accuracy = std::numeric_limits<double>::quiet_NaN();
};

/// Writes model.h5, atomically. The file depends only on the arguments: equal models give identical files, so
/// facts that differ between runs with equal results are not stored. `parameters`: canonical. `validated`:
/// the validation for which the model is kept, if any. `before_it_counts`: called when the file is complete,
/// before it gets its name. Throws Error naming the file.
void write_model(const std::filesystem::path& file, const ModelDescription& description,
                 std::span<const float> parameters, const std::optional<Validated>& validated = {},
                 const std::function<void()>& before_it_counts = {});

/// Returns the validation stored in a model file; empty if there is none, or the file cannot be read.
std::optional<Validated> validated_in(const std::filesystem::path& file);

/// Writes ensemble.h5, atomically: the members and their facts. `parameters(i)` returns the parameters of
/// members[i], valid until the next call; it is called once for each, in order.
void write_ensemble(const std::filesystem::path& file, const ModelDescription& description,
                    std::span<const Member* const> members,
                    const std::function<std::span<const float>(std::size_t)>& parameters);
/// Does the same with the parameters in `members`.
void write_ensemble(const std::filesystem::path& file, const ModelDescription& description,
                    std::span<const Member* const> members);

/// Reads model.h5 or ensemble.h5; for a run folder, the file in it. Throws Error naming the file if it is
/// missing, from another program, of a newer format, truncated, or damaged (checksum).
ModelSet load_models(const std::filesystem::path& file_or_run);

/// Returns the file that load_models would read. Throws Error if there is none.
std::filesystem::path find_model_file(const std::filesystem::path& file_or_run);

/// Throws Error unless a file with this description could be read, and would give the same network.
void require_storable(const ModelDescription& description);

/// Reads `file`, which was written from `models`, and compares both. Throws Error naming the file if they
/// differ, or if it cannot be read. Holds the values of one parameter at a time.
void require_written(const std::filesystem::path& file, const ModelSet& models);

/// Runs `read` on rank 0 of `group` and returns its models on all ranks, so a model file need be on the host
/// of rank 0 alone. All ranks throw its errors as mpi::together() does. Collective.
ModelSet models_from_root(const mpi::Communicator& group, const std::function<ModelSet()>& read);

}  // namespace convoke::run

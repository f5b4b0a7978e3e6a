#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/engine/step_engine.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/model_file.hpp"
#include "convoke/run/node_memory.hpp"

namespace convoke::train {

/// How a network learns from the predictions of others (nn::distilled). Holds options only.
struct Distillation {
  std::string teacher;     ///< a model file or a run folder; empty: no distillation
  double temperature = 2;  ///< > 0; softens the predictions
  double weight = 0.5;     ///< of the teacher's part of the loss, [0, 1]; the labels have the rest

  /// Reads { teacher = "runs/votes", temperature = 2.0, weight = 0.5 }; an empty table: no distillation.
  /// Throws Error for an unknown key, a value out of range, and a missing teacher.
  static Distillation read(const Settings& settings);
  /// Returns the options from which read() makes an equal object; empty without a teacher.
  Settings settings() const;
  /// The keys of the recipe table.
  static std::vector<OptionTable> tables();
};

/// The predictions of a teacher, a model or an ensemble, for samples of a split without augmentation. The
/// ranks of a node compute them together, once, and keep them once per node.
class SoftLabels {
 public:
  /// For each of the samples `ids`, the mean over the members of p^(1 / T) / sum p^(1 / T), where p are the
  /// probabilities of a member in fp32: softmax(z / T) if p is softmax(z), except for classes whose p is 0.
  /// An evaluation takes a micro-batch of `ids` in their order, so the bits do not depend on the ranks and
  /// threads. `engine`: micro-batch and threads. `file`: see run::NodeMemory. Collective over `node`.
  SoftLabels(const run::ModelSet& teacher, double temperature, const data::Split& split,
             std::span<const std::uint32_t> ids, const engine::EngineOptions& engine,
             const mpi::Communicator& node, const std::filesystem::path& file);

  /// (samples of the split, classes), 0 for those without; as long as this object exists.
  std::span<const float> values() const;

 private:
  run::NodeMemory memory_;
};

}  // namespace convoke::train

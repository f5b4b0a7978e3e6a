#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "convoke/run/model_file.hpp"

namespace convoke::run {

/// The models of the best validations of a run: best.h5, best-2.h5, ... in its folder of checkpoints. Each
/// file stores the validation of its model, so a resumed run needs only the files. Among equal validations
/// the earlier is better; files without a validation (of early versions, or damaged) come last. Used by one
/// rank, by one thread at a time.
class BestModels {
 public:
  /// The order of validations: less is better, never NaN.
  using Cost = std::function<double(const Validated&)>;

  /// `kept`: number of models to keep, at least 0.
  BestModels(std::filesystem::path folder, std::int64_t kept, Cost cost);

  /// Returns true if a model of this validation would be kept.
  bool admits(const Validated& validated) const;

  /// Writes the model at its place, atomically; the models behind it move by one place, and the last one is
  /// removed. Ignores a model that is not admitted. `parameters`: canonical. Throws Error naming the file
  /// that cannot be written; the other files are unchanged then.
  void keep(const ModelDescription& model, std::span<const float> parameters,
            const Validated& validated) const;

  /// Removes the models of later validations than this step's, and those beyond `kept`; closes the gaps. A
  /// run that resumes from this step writes them again. Throws Error naming a file that cannot be moved.
  void go_back_to(std::int64_t step) const;

 private:
  struct Entry;
  std::filesystem::path file(std::size_t place) const;  // counted from 0
  std::vector<std::filesystem::path> files() const;
  std::vector<Entry> entries() const;  // the best first; each validation once
  std::size_t place_of(const Validated& validated, const std::vector<Entry>& entries) const;
  void make_room(std::size_t place, std::size_t count) const;  // `count`: number of models now
  void arrange(std::vector<Entry> order) const;                // also removes the others

  std::filesystem::path folder_;
  std::size_t kept_;
  Cost cost_;
};

/// The best validation so far and the evaluations since: the state of early stopping, which a checkpoint
/// stores.
struct BestSoFar {
  std::int64_t evaluations = 0;  ///< evaluations that counted; 0: there is no best yet
  std::int64_t wait = 0;         ///< evaluations since the best
  std::int64_t updates = 0;      ///< steps since the start, at the best
  double loss = std::numeric_limits<double>::quiet_NaN();
  double accuracy = std::numeric_limits<double>::quiet_NaN();
  bool stopped = false;           ///< training has stopped early
  std::vector<float> parameters;  ///< canonical; stored only if they will be restored
};

}  // namespace convoke::run

#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "convoke/run/model_file.hpp"

namespace convoke::run {

/// The models of the best validations of a run: best.h5, best-2.h5, ... in its folder of checkpoints. Which
/// validation a model is of stands in its file, so a resumed run knows it from the files alone. Of equal
/// validations the earlier is the better; files that do not say (of early versions, damaged) come last. Used
/// by one rank, by one thread at a time.
class BestModels {
 public:
  /// What ranks validations: less is better, never NaN.
  using Cost = std::function<double(const Validated&)>;

  /// `kept`: how many, at least 0.
  BestModels(std::filesystem::path folder, std::int64_t kept, Cost cost);

  /// True if a model of this validation would be kept.
  bool admits(const Validated& validated) const;

  /// Writes the model in its place, atomically; those behind it move by one, and the one that was last goes.
  /// Does nothing with one that is not admitted. `parameters`: canonical. Throws Error naming the file that
  /// cannot be written; the others are untouched then.
  void keep(const ModelDescription& model, std::span<const float> parameters,
            const Validated& validated) const;

  /// Removes the models of later validations than this step's, and those beyond `kept`; the others close up.
  /// For a run that goes on from there: it makes them again. Throws Error naming a file that cannot be moved.
  void go_back_to(std::int64_t step) const;

 private:
  struct Entry;
  std::filesystem::path file(std::size_t place) const;  // counted from 0
  std::vector<std::filesystem::path> files() const;
  std::vector<Entry> entries() const;  // the best first; each validation once
  std::size_t place_of(const Validated& validated, const std::vector<Entry>& entries) const;
  void make_room(std::size_t place, std::size_t count) const;  // `count`: of the models before
  void arrange(std::vector<Entry> order) const;                // and removes the others

  std::filesystem::path folder_;
  std::size_t kept_;
  Cost cost_;
};

}  // namespace convoke::run

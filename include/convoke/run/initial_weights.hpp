#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/engine/canonical.hpp"
#include "convoke/mpi/communicator.hpp"
#include "convoke/run/model_file.hpp"

namespace convoke::run {

/// The weights of a model file that match a graph in name and shape; the graphs may differ.
struct InitialWeights {
  std::vector<float> values;  ///< canonical, of the whole graph
  std::vector<bool> given;    ///< for each of engine::canonical_parameters(): true if it is in `values`
  std::vector<std::string>
      initialized;                  ///< parameters of the graph that the file lacks or has in another shape
  std::vector<std::string> unused;  ///< parameters of the file that the graph lacks
  std::string prefix = {};          ///< what the file has in front of the names, e.g. "module."
  std::string converted = {};       ///< the file's type of numbers if it is not fp32, e.g. "float16"
  data::Normalization normalization = {};  ///< of the samples that the file's model takes; empty: not known

  /// "104 of 106 parameters; initialized: dense_1.weight (10, 64), in the file (100, 64), ...; not used: ..."
  std::string describe() const;
};

/// Matches the weights of a file with the parameters of a graph, one by one.
class WeightMatch {
 public:
  explicit WeightMatch(const nn::Graph& graph);

  const std::vector<engine::CanonicalParameter>& parameters() const { return parameters_; }
  /// Returns where the values of parameter `i` go; the caller fills them.
  std::span<float> take(std::size_t i);
  /// Says that the file has parameter `i` in another shape. `wanted`: the shape that would fit, if the file
  /// has other axes than ours.
  void misfit(std::size_t i, const Shape& in_file, const Shape& wanted = {});
  /// Says that the file has a parameter that the graph lacks.
  void unused(const std::string& name) { weights_.unused.push_back(name); }
  /// Says what the file has in front of the parameters' names.
  void prefix(std::string_view prefix) { weights_.prefix = prefix; }
  /// Says that the file has numbers of another type than fp32.
  void converted(std::string_view type) { weights_.converted = type; }

  /// Throws Error naming `file` if no parameter was taken.
  InitialWeights finish(const std::string& file) &&;

 private:
  std::vector<engine::CanonicalParameter> parameters_;
  struct Misfit {
    Shape in_file;  ///< empty: the file lacks the parameter
    Shape wanted;
  };
  std::vector<Misfit> misfits_;  ///< of each parameter
  InitialWeights weights_;
};

/// Takes the weights of `models` (the first member of an ensemble) that fit `graph`. Throws Error naming
/// `file` if none of them fits.
InitialWeights take_weights(const ModelSet& models, const nn::Graph& graph, const std::string& file);

/// Runs `read` on rank 0 of `group` and returns its weights on all ranks; all ranks throw its errors as
/// mpi::together() does. Collective.
InitialWeights weights_from_root(const mpi::Communicator& group, const std::function<InitialWeights()>& read);

}  // namespace convoke::run

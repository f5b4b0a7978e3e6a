#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "convoke/interop/model_io.hpp"

// Finds the kinds of the inputs and outputs of a model of another program. Its file names them; if not, they
// follow from its network.

namespace convoke::interop {

/// What a file says about its outputs.
struct StatedOutputs {
  nn::LossPtr loss = nullptr;  ///< null: it does not say
  /// "logits", "probabilities" (of the activation of the loss) or "values"; empty: it does not say
  std::string outputs = {};
  std::int64_t classes = 0;  ///< 0: it does not say
};

/// Reads what Convoke adds to the files that it writes: "output", "loss" and "classes" of `facts`, whose
/// values are text or JSON. Nothing is stated if another program wrote the file, or if they are damaged.
StatedOutputs stated_outputs(const nlohmann::json& facts);

/// True if the first layers of the written file normalize.
bool normalizes(const run::ModelDescription& description, const ExportOptions& options);

/// Returns what Convoke adds about the inputs and classes: "class_names", "normalization_scale",
/// "normalization_shift", "channel_order", "samples", and "input": "raw" if the file normalizes(), else
/// "normalized".
nlohmann::ordered_json input_facts(const run::ModelDescription& description, const ExportOptions& options);
/// Sets them as far as they fit the network; no normalization if its first layers normalize.
void set_input_facts(Imported& imported, const nlohmann::json& facts);

/// True if the network begins with rescale or standardize layers that bring stored samples to a common range:
/// features, or pixels of 0..255. Layers that only center pixels of 0..1 take normalized samples.
bool normalizes_itself(const nn::Graph& graph);

/// Returns these facts of a model; `ensemble`: of the mean of its members' probabilities.
nlohmann::json output_facts(const run::ModelDescription& description, bool ensemble);

/// Sets the loss and the number of classes of `imported`, and says in its notes what the outputs are.
void resolve_outputs(Imported& imported, const StatedOutputs& stated);

}  // namespace convoke::interop

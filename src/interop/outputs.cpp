#include "interop/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/nn/losses/outputs.hpp"

namespace convoke::interop {
namespace {

/// What --outputs can say: the activation that belongs to the outputs, and whether they are its values.
struct OutputKind {
  std::string_view name, activation;
  bool activated;
};
constexpr std::array kKinds{
    OutputKind{"logits", "softmax", false},
    OutputKind{"probabilities", "softmax", true},
    OutputKind{"score-logits", "sigmoid", false},
    OutputKind{"scores", "sigmoid", true},
    OutputKind{"values", "", true},
};

std::int64_t outputs_of(const run::ModelDescription& model) { return model.graph.output_shape().elements(); }

// Sets the key `outputs` of the loss if the network alone would be understood in another way.
void declare(run::ModelDescription& model, bool activated) {
  if (nn::outputs_are_activated(model.graph, *model.loss) == activated) return;
  Settings settings = model.loss->settings();
  settings.set("outputs", activated ? "probabilities" : "logits");
  model.loss = nn::make_loss(settings);
}

// One output with a sigmoid is the probability of the second of two classes.
void count_classes(run::ModelDescription& model) {
  if (outputs_of(model) == 1 && model.loss->activation() == "sigmoid") model.class_count = 2;
}

nn::LossPtr loss_with(std::string_view activation) {
  return activation == "softmax"   ? nn::default_loss()
         : activation == "sigmoid" ? nn::make_loss({{"name", "sigmoid_cross_entropy"}})
                                   : nn::make_loss({{"name", "mean_squared_error"}});
}

// "probabilities (the network ends in softmax)"
std::string describe(const run::ModelDescription& model, bool assumed, bool said) {
  const std::string activation(model.loss->activation());
  if (activation.empty()) return "numbers, not probabilities";
  const bool one = outputs_of(model) == 1, sigmoid = activation == "sigmoid";
  const std::string_view meaning = one       ? "the probability of class 1"
                                   : sigmoid ? "scores from 0 to 1, one for each class"
                                             : "probabilities";
  if (nn::outputs_are_activated(model.graph, *model.loss)) {
    return fmt::format("{} ({})", meaning,
                       said ? "as the file says" : fmt::format("the network ends in {}", activation));
  }
  return fmt::format("{}logits: {} makes {} of them{}", assumed ? "assumed to be " : "", activation, meaning,
                     assumed ? one ? "; --outputs probabilities or values if they are not"
                                   : "; --outputs probabilities, scores or values if they are not"
                             : "");
}

std::string text_of(const nlohmann::json& facts, const char* key) {
  const auto found = facts.find(key);
  if (found == facts.end()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

template <class T>
std::vector<T> list_of(const nlohmann::json& facts, const char* key) {
  const nlohmann::json list = nlohmann::json::parse(text_of(facts, key), nullptr, false);
  try {
    return list.is_array() ? list.get<std::vector<T>>() : std::vector<T>{};
  } catch (const nlohmann::json::exception&) {
    return {};  // other values than Convoke writes
  }
}

// Layers that only move the values of an image, as networks do that take its channels in reverse order.
constexpr std::array<std::string_view, 6> kMoving{"slice",   "reshape",  "concat",
                                                  "permute", "identity", "flatten"};

}  // namespace

bool normalizes(const run::ModelDescription& description, const ExportOptions& options) {
  return options.raw_input && !description.normalization.scale.empty();
}

nlohmann::ordered_json input_facts(const run::ModelDescription& description, const ExportOptions& options) {
  nlohmann::ordered_json facts{{"class_names", description.class_names},
                               {"normalization_scale", description.normalization.scale},
                               {"normalization_shift", description.normalization.shift},
                               {"input", normalizes(description, options) ? "raw" : "normalized"}};
  if (description.normalization.reversed) facts["channel_order"] = "reversed";
  if (description.float_images) facts["samples"] = "float32";
  return facts;
}

void set_input_facts(Imported& imported, const nlohmann::json& facts) {
  if (!facts.is_object()) return;
  run::ModelDescription& model = imported.models.description;
  std::vector<std::string> names = list_of<std::string>(facts, "class_names");
  std::ranges::transform(names, names.begin(), one_line);
  if (std::ssize(names) == model.classes()) model.class_names = std::move(names);
  const bool image = model.graph.input_shape().rank() == 3;
  // Others may give an ONNX file such a fact.
  model.float_images = image && facts.contains("convoke_version") && text_of(facts, "samples") == "float32";
  std::vector<float> scale = list_of<float>(facts, "normalization_scale"),
                     shift = list_of<float>(facts, "normalization_shift");
  const auto channels = static_cast<std::size_t>(nn::channels_of(model.graph.input_shape()));
  if (scale.size() != channels || shift.size() != channels) return;
  const std::string input = text_of(facts, "input");
  // Files of older versions do not say it, but the first of these layers has this name.
  imported.raw_input = input.empty() ? model.graph.node(1).name.starts_with("normalization") : input == "raw";
  if (imported.raw_input) return;
  model.normalization = {.scale = std::move(scale),
                         .shift = std::move(shift),
                         .reversed = image && text_of(facts, "channel_order") == "reversed"};
}

bool normalizes_itself(const nn::Graph& graph) {
  constexpr double kScaleOfPixels = 0.05, kCenterOfPixels = 2;
  struct Affine {
    double scale = 1, offset = 0;  // scale * stored + offset, in the channel with the least variance
  };
  const bool image = graph.input_shape().rank() == 3;
  std::vector<Affine> values(1);  // of the nodes so far
  bool any = false;
  for (std::size_t i = 1; i < graph.nodes().size(); ++i) {
    const nn::Node& node = graph.node(i);
    const Settings settings = node.layer->settings();
    SettingsReader read(settings, node.name);
    auto [scale, offset] = values[node.inputs[0]];
    if (node.layer->type() == "rescale") {
      const double factor = read.get("scale", 1.0);
      scale *= factor;
      offset = offset * factor + read.get("offset", 0.0);
      any = true;
    } else if (node.layer->type() == "standardize") {
      const std::vector<double> means = read.get("mean", std::vector<double>{0}),
                                variances = read.get("variance", std::vector<double>{1});
      const auto least = std::ranges::min_element(variances);
      const double mean = means[static_cast<std::size_t>(least - variances.begin())];
      scale /= std::sqrt(*least);
      offset = (offset - mean) / std::sqrt(*least);
      any = true;
    } else if (!image || std::ranges::find(kMoving, node.layer->type()) == kMoving.end()) {
      break;
    }
    values.push_back({scale, offset});
  }
  const auto& [scale, offset] = values.back();
  return any && (!image || std::abs(scale) < kScaleOfPixels || -offset / scale > kCenterOfPixels);
}

StatedOutputs stated_outputs(const nlohmann::json& facts) {
  StatedOutputs stated;
  if (!facts.is_object() || !facts.contains("convoke_version")) return stated;
  const auto text = [&](const char* key) { return text_of(facts, key); };
  stated.outputs = text("output");
  const nlohmann::json classes = nlohmann::json::parse(text("classes"), nullptr, false);
  if (classes.is_number_integer() && classes > 0 && classes < 1'000'000) stated.classes = classes;
  try {
    const std::string loss = text("loss");
    // Files of older versions leave out softmax cross-entropy.
    if (!stated.outputs.empty()) stated.loss = nn::default_loss();
    if (!loss.empty()) stated.loss = nn::make_loss(metrics::settings_from_json(loss, "loss"));
  } catch (const Error&) {
    return {};
  }
  return stated;
}

nlohmann::json output_facts(const run::ModelDescription& description, bool ensemble) {
  const bool values = description.loss->activation().empty();
  const bool activated = ensemble || nn::outputs_are_activated(description.graph, *description.loss);
  nlohmann::json facts{{"output", values ? "values" : activated ? "probabilities" : "logits"}};
  if (description.loss->settings() != nn::default_loss()->settings()) {
    facts["loss"] = metrics::to_json(description.loss->settings());
  }
  if (description.classes() != outputs_of(description)) facts["classes"] = description.classes();
  return facts;
}

void resolve_outputs(Imported& imported, const StatedOutputs& stated) {
  run::ModelDescription& model = imported.models.description;
  const std::string_view shown = nn::activation_of_outputs(model.graph);
  const bool one = outputs_of(model) == 1;
  model.loss = stated.loss ? stated.loss : loss_with(one || shown == "sigmoid" ? "sigmoid" : "softmax");
  if (stated.classes > 0 && model.loss->fits(outputs_of(model), stated.classes)) {
    model.class_count = stated.classes == outputs_of(model) ? 0 : stated.classes;
  }
  count_classes(model);
  if (!stated.outputs.empty() && stated.outputs != "values")
    declare(model, stated.outputs == "probabilities");
  model.outputs_assumed = stated.loss == nullptr && !nn::outputs_are_activated(model.graph, *model.loss);
  imported.outputs_note = "outputs: " + describe(model, model.outputs_assumed,
                                                 stated.outputs == "probabilities" && shown.empty());
}

std::vector<std::string> output_kinds() { return names_in(kKinds); }

void declare_outputs(Imported& imported, const std::string& kind) {
  if (kind.empty()) return;
  run::ModelDescription& model = imported.models.description;
  const OutputKind& chosen = find_in(kKinds, kind, "kind of outputs");
  const bool one = outputs_of(model) == 1;
  const std::string_view activation = one && !chosen.activation.empty() ? "sigmoid" : chosen.activation;
  if (model.loss->activation() != activation) model.loss = loss_with(activation);
  if (one && activation.empty()) model.class_count = 0;
  count_classes(model);
  if (!activation.empty()) declare(model, chosen.activated);
  model.outputs_assumed = false;
  imported.outputs_note = fmt::format("outputs: {} (--outputs)", kind);
}

}  // namespace convoke::interop

#include "interop/keras/model_reader.hpp"
#include "convoke/nn/losses/outputs.hpp"
#include "interop/keras/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "interop/outputs.hpp"

namespace convoke::interop::keras {
namespace {

constexpr int kDeepestModel = 40;  // models within models
constexpr std::size_t kMostNodes = 4'000;

std::string class_of(const Json& layer) { return text_of(member(layer, "class_name")); }

// Walks over all JSON values; its depth is bounded by parse_json().
template <class Test>
bool any_within(const Json& json, Test test) {
  if (test(json)) return true;
  return json.is_structured() &&
         std::any_of(json.begin(), json.end(), [&](const Json& part) { return any_within(part, test); });
}

// The input's shape with its batch, [null, 224, 224, 3], or a null if the file has none.
const Json& input_shape(const Json& model, int depth) {
  static const Json none;
  if (depth > kDeepestModel) return none;
  const Json& config = member(model, "config");
  const Json& layers = config.is_array() ? config : member(config, "layers");
  for (const Json& layer : layers) {
    const Json& settings = member(layer, "config");
    for (const char* key : {"batch_input_shape", "batch_shape"}) {
      if (member(settings, key).is_array()) return member(settings, key);
    }
    if (is_model(layer)) {
      const Json& inner = input_shape(layer, depth + 1);
      if (inner.is_array()) return inner;
    }
    if (class_of(model) == "Sequential") break;  // only its first layer reads the input
  }
  const Json& built = member(config, "build_input_shape");
  return built.is_array() ? built : member(member(model, "build_config"), "input_shape");
}

/// Converts the calls of a model, and of the models within it.
class Reader {
 public:
  Reader(const ModelSource& source, ModelBuilder& builder)
      : source_(source), context_{.builder = builder, .weights = source.weights} {
    context_.keras_version = source.keras_version;
    context_.made_in_tfjs = source.made_in_tfjs;
    context_.channels_first = any_within(source.model, is_channels_first);
  }

  // True if this is a layer of images (C, H, W). Flatten may have that setting for images of either order.
  static bool is_channels_first(const Json& layer) {
    return class_of(layer) != "Flatten" &&
           member(member(layer, "config"), "data_format") == Json("channels_first");
  }

  // Layers of images have the order of all others; a sequence has its features last.
  void require_order(const LayerEntry& layer, const std::vector<Value>& inputs) const {
    const std::string order = text_of(member(*layer.config, "data_format"));
    if (order.empty() || layer.class_name == "Flatten" || inputs.empty()) return;
    const bool image = context_.builder.graph().node(inputs.front().node).shape.rank() == 3;
    if (order == (image && context_.channels_first ? "channels_first" : "channels_last")) return;
    throw Error(fmt::format("takes {}, but {}", order,
                            image ? "another layer of the model takes channels_first"
                                  : "sequences are read with their features last"),
                "give all layers one data_format and save the model again");
  }

  Context& context() { return context_; }

  Value run(const std::string& output) {
    const bool trainable = member(member(source_.model, "config"), "trainable") != Json(false);
    return placed({}, "", [&] {
      return run(source_.model, {.node = 0}, {.class_name = {}, .path = {}, .trainable = trainable}, output);
    });
  }

 private:
  /// `scope`: of the call of the model.
  Value run(const Json& model, const Value& input, const Call::Options& scope,
            const std::string& output = {}) {
    if (scope.path.size() > kDeepestModel) throw Error("holds more models within models than are supported");
    const Network network = read_network(model, output);
    std::vector<bool> needed(network.calls.size(), false);
    needed[network.output] = true;
    for (std::size_t i = network.calls.size(); i-- > 0;) {
      if (!needed[i]) continue;
      for (const Argument& argument : network.calls[i].arguments) {
        if (argument.call) needed[*argument.call] = true;
      }
    }
    std::vector<Value> values(network.calls.size());
    values[0] = input;
    for (std::size_t i = 1; i < network.calls.size(); ++i) {
      if (!needed[i]) continue;
      const LayerCall& call = network.calls[i];
      const LayerEntry& layer = network.layers[call.layer];
      placed(scope.path, layer.name + "\n" + layer.class_name,
             [&] { return values[i] = convert(layer, call.arguments, values, scope); });
    }
    return values[network.output];
  }

  Value convert(const LayerEntry& layer, std::vector<Argument> arguments, const std::vector<Value>& values,
                const Call::Options& scope) {
    if (context_.builder.graph().nodes().size() > kMostNodes) {
      throw Error(fmt::format("the model has more than {} layers", kMostNodes));
    }
    std::vector<Value> inputs;
    const Value* mask = nullptr;  // given in the call, instead of the one that the input carries
    Call::Options within = scope;
    for (Argument& argument : arguments) {
      if (argument.keyword == "training" && argument.constant == Json(false)) {
        // Keras 3 replaces it with the mode of the model in which it is called.
        within.inference = within.inference || context_.keras_version < 3;
        // Others have it in the file because it is their default.
        const bool chosen = is_model(*layer.whole) || layer.class_name == "BatchNormalization";
        if (context_.keras_version >= 3 && chosen) {
          context_.builder.note(
              "training=False in the call of a layer has no effect in training, as in Keras 3");
        }
      }
      if (!argument.call) continue;  // a mask that is null is that of the input
      const bool by_keyword = !argument.keyword.empty() && argument.keyword != "inputs";
      if (argument.keyword == "mask") {
        mask = &values[*argument.call];
        argument.call.reset();
        continue;
      }
      const bool named = layer.is_operation || layer.class_name == "MultiHeadAttention";
      if (by_keyword && !named && layer.class_name != "TFOpLambda") {
        throw Error(
            fmt::format("gets a tensor as \"{}\", which is not supported", one_line(argument.keyword)));
      }
      inputs.push_back(values[*argument.call]);
      argument.call = inputs.size() - 1;
    }
    if (layer.class_name == "InputLayer") {
      throw Error("is a second input", "models with one input are supported");
    }
    if (inputs.empty()) throw Error("reads no tensors");
    if (mask != nullptr) inputs.front() = with_mask(inputs.front(), *mask);
    within.trainable = scope.trainable && member(*layer.config, "trainable") != Json(false);
    within.path.push_back({.name = layer.name, .key = layer.key});
    if (is_model(*layer.whole)) {
      if (inputs.size() != 1) throw Error(fmt::format("is a model that reads {} tensors", inputs.size()));
      return run(*layer.whole, inputs.front(), within);
    }
    require_order(layer, inputs);
    const Json& dtype = member(*layer.config, "dtype");
    const std::string policy = text_of(dtype.is_object() ? member(member(dtype, "config"), "name") : dtype);
    if (policy.find("float") != policy.npos && policy != "float32")
      context_.builder.note(fmt::format("layers of the policy {} compute in float32 here", one_line(policy)));
    // Keras says of its operators on tensors neither module nor package.
    const bool tensorflow = layer.class_name == "TFOpLambda" || layer.class_name == "SlicingOpLambda";
    within.class_name = tensorflow ? layer.class_name : builtin_class(*layer.whole);
    within.is_operation = layer.is_operation || is_operation(within.class_name, arguments);
    const Call call(context_, *layer.config, std::move(within), std::move(inputs), std::move(arguments));
    if (computes_mask(call)) return fold_mask(call);
    // Only layers pass a mask on.
    if (tensorflow) return unmasked(convert_tensorflow(call));
    if (call.options().is_operation) return unmasked(convert_operation(call));
    return find_layer(call.options().class_name)(call);
  }

  // Puts the file and the layer in front of an Error that `work` throws. `layer`: its name, line break,
  // class; empty for the model.
  template <class Work>
  Value placed(const std::vector<Place>& path, const std::string& layer, Work work) const {
    try {
      return work();
    } catch (const Error& error) {
      const std::string what = error.what();
      if (what.starts_with(source_.file)) throw;
      if (layer.empty()) throw Error(fmt::format("{}: the model {}", source_.file, what), error.hint());
      const std::size_t end = layer.find('\n');
      std::string place = fmt::format("layer \"{}\" ({})", shortened(one_line(layer.substr(0, end)), 80),
                                      shortened(one_line(layer.substr(end + 1)), 80));
      if (!path.empty()) place += fmt::format(" within \"{}\"", shortened(one_line(path.back().name), 80));
      throw Error(fmt::format("{}: {}: {}", source_.file, place, what), error.hint());
    }
  }

  const ModelSource& source_;
  Context context_;
};

nn::ValueSpec input_of(const ModelSource& source, const ImportOptions& options) {
  const Json& batch_shape = input_shape(source.model, 0);
  const bool embeds =
      any_within(source.model, [](const Json& json) { return class_of(json) == "Embedding"; });
  const bool first = any_within(source.model, Reader::is_channels_first);
  if (!batch_shape.is_array() && options.input.rank() == 0) {
    throw Error(fmt::format("{}: the file does not say the shape of the model's input", source.file),
                "give it: --input C,H,W for images, L,F for sequences, L for tokens");
  }
  std::vector<std::int64_t> extents;
  if (batch_shape.is_array()) {
    for (std::size_t i = 1; i < batch_shape.size(); ++i) {
      const Json& extent = batch_shape[i];
      const bool good = extent.is_number_integer() && extent.get<std::int64_t>() >= 1 &&
                        extent.get<std::int64_t>() < (std::int64_t{1} << 31);
      if (!good && !extent.is_null()) {
        throw Error(fmt::format("{}: the shape of its input, {}, is no shape", source.file,
                                shortened(one_line(batch_shape.dump()), 80)));
      }
      extents.push_back(good ? extent.get<std::int64_t>() : -1);
    }
    if (extents.size() == 3 && !first) extents = {extents[2], extents[0], extents[1]};
    if (extents.empty() || extents.size() > 3) {
      throw Error(fmt::format("{}: its input {} is neither an image, a sequence nor a vector", source.file,
                              shortened(one_line(batch_shape.dump()), 80)));
    }
  }
  const Shape own(extents);
  if (options.input.rank() != 0) {
    bool fits = extents.empty() || own.rank() == options.input.rank();
    for (std::size_t i = 0; fits && i < extents.size(); ++i) {
      fits = extents[i] == -1 || extents[i] == options.input[i];
    }
    if (!fits) {
      throw Error(fmt::format("{}: its input is {}, not {}", source.file, own.with_batch(),
                              options.input.with_batch()),
                  "give the shape of the file, or leave it out");
    }
    extents = options.input.extents();
  }
  if (std::count(extents.begin(), extents.end(), -1) > 0) {
    throw Error(fmt::format("{}: its input {} is open, shown as -1", source.file, own.with_batch()),
                extents.size() == 3   ? "give its shape: --input C,H,W, for example --input 3,224,224"
                : extents.size() == 1 ? "give the length of the sequences: --input L, for example --input 300"
                                      : "give its shape: --input L,F, for example --input 128,9");
  }
  return {Shape(extents), embeds && extents.size() == 1 ? nn::ValueType::kToken : nn::ValueType::kReal};
}

// Returns the loss of model.compile() that fits the outputs of `graph`, or none if we do not have it.
nn::LossPtr loss_of(const Json& compile, const nn::Graph& graph) {
  const Json& given = member(compile, "loss");
  const Json& loss = given.is_array() && given.size() == 1 ? given[0] : given;
  const Json& config = member(loss, "config");
  std::string name = text_of(loss);
  if (name.empty()) name = text_of(config);  // a function as an object
  if (name.empty()) name = text_of(member(loss, "class_name"));
  for (const LossName& known : kLossNames) {
    if (!known.read || (name != known.function && name != known.class_name)) continue;
    Settings settings{{"name", known.name}};
    const Json& smoothing = member(config, "label_smoothing");
    if (smoothing.is_number() && smoothing.get<double>() > 0 && smoothing.get<double>() < 1) {
      settings.set("label_smoothing", smoothing.get<double>());
    }
    nn::LossPtr ours = nn::make_loss(settings);
    const bool logits = member(config, "from_logits") == Json(true);
    return logits || nn::outputs_are_activated(graph, *ours) ? ours : nullptr;
  }
  return nullptr;
}

void set_loss(Imported& imported, const Json& compile, const Json& facts) {
  StatedOutputs stated = stated_outputs(facts);
  if (!stated.loss) {
    stated.loss = loss_of(compile, imported.models.description.graph);
    const Json& given = member(compile, "loss");
    if (!stated.loss && !given.is_null()) {
      imported.notes.push_back(
          fmt::format("the loss of model.compile() is not available for this network: {}",
                      shortened(one_line(given.dump()), 80)));
    }
  }
  resolve_outputs(imported, stated);
}

}  // namespace

Imported convert_model(const ModelSource& source, const ImportOptions& options) {
  if (!is_model(source.model)) {
    throw Error(
        fmt::format("{}: the model is of the class {}", source.file,
                    shortened(one_line(class_of(source.model)), 80)),
        "supported are Sequential and Functional models; a class of your own holds Python code: build "
        "the same layers with keras.Model(inputs, outputs)");
  }
  ModelBuilder builder(input_of(source, options));
  Reader reader(source, builder);
  const Value output = reader.run(options.output);
  if (output.mask_parts) throw Error(fmt::format("{}: the model's output is a mask", source.file));
  static const Json none = Json::object();
  const Call last(reader.context(), none, {.class_name = "", .path = {{"output", ""}}}, {output}, {});
  const Value plain = last.plain_input();
  if (plain.node + 1 != builder.graph().nodes().size() || plain.node == 0)
    last.add({{"layer", "identity"}}, plain);
  const std::set<std::string>& frozen = reader.context().frozen;
  if (!frozen.empty()) {
    builder.note(fmt::format("{} frozen as in the file (trainable = false): {}{}",
                             frozen.size() == 1 ? "1 layer is" : fmt::format("{} layers are", frozen.size()),
                             *frozen.begin(), frozen.size() == 1 ? "" : ", ..."));
  }
  Imported imported = std::move(builder).finish();
  set_loss(imported, source.compile, source.facts);
  set_input_facts(imported, source.facts);
  imported.notes.insert(imported.notes.end(), source.notes.begin(), source.notes.end());
  return imported;
}

}  // namespace convoke::interop::keras

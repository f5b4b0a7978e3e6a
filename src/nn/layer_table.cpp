#include "convoke/nn/layer_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/nn/layers.hpp"
#include "nn/layer_maker.hpp"
#include "nn/value_range.hpp"

namespace convoke::nn {
namespace {

struct LayerEntry {
  std::string_view name;
  std::string_view family;  ///< its heading in the guide
  Maker maker;
  std::string_view help;
  RangeOf range = nullptr;  ///< what is known of its value; null: nothing
};

constexpr auto kAverage = PoolMode::kAverage;
constexpr auto kMax = PoolMode::kMax;
constexpr auto kImage = GlobalPool::Over::kImage;
constexpr auto kSequence = GlobalPool::Over::kSequence;

constexpr std::array kLayers{
    LayerEntry{"adaptive_average_pool", "pooling", kMaker<AdaptivePool, kAverage>,
               "mean over windows that cover the image: (C, H, W) → (C, height, width), as in PyTorch",
               range_of_some},
    LayerEntry{"adaptive_max_pool", "pooling", kMaker<AdaptivePool, kMax>,
               "maximum over windows that cover the image: (C, H, W) → (C, height, width), as in PyTorch",
               range_of_some},
    LayerEntry{"add", "merging", kMaker<Add>, "sum of inputs of one shape; may have `activation`",
               range_of_sum},
    LayerEntry{"attention", "merging", kMaker<Attention>,
               "softmax(scale q kᵀ) v for each head, of query (L, F), key (S, F) and value (S, G): (L, G)"},
    LayerEntry{"average", "merging", kMaker<Average>, "mean of inputs of one shape", range_of_average},
    LayerEntry{"average_pool", "pooling", kMaker<Pool, kAverage>,
               "mean over windows: (C, H, W) → (C, H', W')", range_of_padded},
    LayerEntry{"average_pool1d", "pooling", kMaker<Pool1d, kAverage>,
               "mean over windows along a sequence: (L, F) → (L', F)", range_of_padded},
    LayerEntry{"batch_norm", "normalization", kMaker<BatchNorm>,
               "normalizes each channel over a micro-batch of images, sequences or vectors"},
    LayerEntry{"channel_scale", "normalization", kMaker<ChannelScale>,
               "a learned factor for each channel (ConvNeXt's \"layer scale\")"},
    LayerEntry{
        "channel_shuffle", "structure", kMaker<ChannelShuffle>,
        "transposes channels as (groups, C / groups), as in ShuffleNet; for images, sequences or vectors",
        range_of_same},
    LayerEntry{"concat", "merging", kMaker<Concat>,
               "joins inputs along an axis; their other axes must be equal", range_of_concat},
    LayerEntry{"conv1d", "convolution", kMaker<Conv1d>,
               "convolution along a sequence: (L, F) → (L', filters)"},
    LayerEntry{"conv2d", "convolution", kMaker<Conv2d>, "convolution: (C, H, W) → (filters, H', W')"},
    LayerEntry{"conv2d_transpose", "convolution", kMaker<Conv2dTranspose>,
               "transposed convolution: (C, H, W) → (filters, H', W')"},
    LayerEntry{"crop", "structure", kMaker<Crop>, "removes the border of an image", range_of_some},
    LayerEntry{"dense", "convolution", kMaker<Dense>,
               "fully connected: (F) → (units); put `flatten` before it if the input is not a vector"},
    LayerEntry{"depthwise_conv2d", "convolution", kMaker<DepthwiseConv2d>,
               "a separate convolution of each channel: (C, H, W) → (C × multiplier, H', W')"},
    LayerEntry{"dropout", "regularization", kMaker<Dropout>,
               "zeroes elements at random in training and scales the others by 1 / (1 − rate)",
               range_of_same},
    LayerEntry{"elementwise", "merging", kMaker<Elementwise>,
               "a function of its inputs of one shape, and of numbers: `exp`, `power`, `greater`, `where`",
               range_of_elementwise},
    LayerEntry{"elu", "activation", kMaker<Activation, Activation::Function::kElu>,
               "x > 0 ? x : alpha (eˣ − 1)"},
    LayerEntry{"embedding", "recurrent", kMaker<Embedding>,
               "a vector for each token: tokens (L) → (L, units); reads the network's input"},
    LayerEntry{"flatten", "structure", kMaker<Flatten>, "any value → (F); an image channels first",
               range_of_same},
    LayerEntry{"gaussian_noise", "regularization", kMaker<GaussianNoise>, "adds normal noise in training",
               range_of_same},
    LayerEntry{"gelu", "activation", kMaker<Activation, Activation::Function::kGelu>,
               "x Φ(x), where Φ is the normal distribution"},
    LayerEntry{"global_average_pool", "pooling", kMaker<GlobalPool, kAverage, kImage>,
               "mean over the image: (C, H, W) → (C)", range_of_all_means},
    LayerEntry{"global_average_pool1d", "pooling", kMaker<GlobalPool, kAverage, kSequence>,
               "mean over the sequence: (L, F) → (F)", range_of_all_means},
    LayerEntry{"global_max_pool", "pooling", kMaker<GlobalPool, kMax, kImage>,
               "maximum over the image: (C, H, W) → (C)", range_of_some},
    LayerEntry{"global_max_pool1d", "pooling", kMaker<GlobalPool, kMax, kSequence>,
               "maximum over the sequence: (L, F) → (F)", range_of_some},
    LayerEntry{"group_norm", "normalization", kMaker<GroupNorm>,
               "normalizes groups of channels of each sample: images, sequences, vectors"},
    LayerEntry{
        "gru", "recurrent", kMaker<Recurrent, Recurrent::Unit::kGru>,
        "gated recurrent unit: (L, F) → (units); `inputs = [\"embedding_1\", \"input\"]` masks the time "
        "steps with token 0"},
    LayerEntry{"hard_sigmoid", "activation", kMaker<Activation, Activation::Function::kHardSigmoid>,
               "relu6(x + 3) / 6", range_of_probability},
    LayerEntry{"hard_swish", "activation", kMaker<Activation, Activation::Function::kHardSwish>,
               "x relu6(x + 3) / 6; also called `hard_silu`"},
    LayerEntry{"identity", "structure", kMaker<Identity>, "its input", range_of_same},
    LayerEntry{"layer_norm", "normalization", kMaker<LayerNorm>,
               "normalizes the features of each time step: (L, F), (F) or, by axis, images"},
    LayerEntry{"leaky_relu", "activation", kMaker<Activation, Activation::Function::kLeakyRelu>,
               "x > 0 ? x : negative_slope x"},
    LayerEntry{"local_response_norm", "normalization", kMaker<LocalResponseNorm>,
               "divides by the sum of squares of neighboring channels; images"},
    LayerEntry{"lstm", "recurrent", kMaker<Recurrent, Recurrent::Unit::kLstm>,
               "long short-term memory: (L, F) → (units); `inputs = [\"embedding_1\", \"input\"]` masks the "
               "time steps with token 0"},
    LayerEntry{"max_pool", "pooling", kMaker<Pool, kMax>, "maximum over windows: (C, H, W) → (C, H', W')",
               range_of_some},
    LayerEntry{"max_pool1d", "pooling", kMaker<Pool1d, kMax>,
               "maximum over windows along a sequence: (L, F) → (L', F)", range_of_some},
    LayerEntry{"maximum", "merging", kMaker<Maximum>, "largest of inputs of one shape, element by element",
               range_of_maximum},
    LayerEntry{"multiply", "merging", kMaker<Multiply>,
               "product of inputs of one shape; an input (C) or (C, 1, 1) scales the channels of images, (F) "
               "the features of sequences",
               range_of_product},
    LayerEntry{"permute", "structure", kMaker<Permute>, "reorders axes", range_of_same},
    LayerEntry{"prelu", "activation", kMaker<PRelu>,
               "x > 0 ? x : slope x with a learned slope for each channel"},
    LayerEntry{"relu", "activation", kMaker<Activation, Activation::Function::kRelu>, "max(x, 0)",
               range_of_relu},
    LayerEntry{"relu6", "activation", kMaker<Activation, Activation::Function::kRelu6>, "min(max(x, 0), 6)",
               range_of_relu6},
    LayerEntry{"rescale", "normalization", kMaker<Rescale>, "scale x + offset", range_of_rescale},
    LayerEntry{
        "reshape", "structure", kMaker<Reshape>,
        "the same numbers, row by row, as (C, H, W), (L, F) or (F); images are read channels first; for "
        "Keras' order, `permute` by `[2, 3, 1]` before it and by `[3, 1, 2]` after it",
        range_of_same},
    LayerEntry{"resize", "structure", kMaker<Resize>, "interpolates an image: (C, H, W) → (C, H', W')"},
    LayerEntry{"selu", "activation", kMaker<Activation, Activation::Function::kSelu>,
               "1.0507 elu(x) with alpha 1.6733"},
    LayerEntry{"separable_conv2d", "convolution", kMaker<SeparableConv2d>,
               "depthwise convolution, then 1 × 1: (C, H, W) → (filters, H', W')"},
    LayerEntry{"sigmoid", "activation", kMaker<Activation, Activation::Function::kSigmoid>, "1 / (1 + e⁻ˣ)",
               range_of_probability},
    LayerEntry{"silu", "activation", kMaker<Activation, Activation::Function::kSilu>,
               "x / (1 + e⁻ˣ); also called `swish`"},
    LayerEntry{"slice", "structure", kMaker<Slice>,
               "a part of its input along an axis; a split is several slices", range_of_some},
    LayerEntry{
        "softmax", "activation", kMaker<Softmax>,
        "eˣ divided by its sum over the classes of a vector, the features of each time step of a sequence "
        "or the channels of each pixel of an image",
        range_of_softmax},
    LayerEntry{"softplus", "activation", kMaker<Activation, Activation::Function::kSoftplus>, "log(1 + eˣ)"},
    LayerEntry{"standardize", "normalization", kMaker<Standardize>, "(x − mean) / √variance"},
    LayerEntry{"stochastic_depth", "regularization", kMaker<StochasticDepth>,
               "at the end of a residual branch: in training, drops the whole branch for random samples",
               range_of_same},
    LayerEntry{"subtract", "merging", kMaker<Subtract>, "difference of two inputs of one shape",
               range_of_difference},
    LayerEntry{"tanh", "activation", kMaker<Activation, Activation::Function::kTanh>, "hyperbolic tangent",
               range_of_tanh},
    LayerEntry{"zero_pad", "structure", kMaker<ZeroPad>, "zeroes around an image", range_of_padded},
};

/// Other names of the same layers, from Keras and the papers.
struct Alias {
  std::string_view name, of;
};
constexpr std::array kAliases{Alias{"hard_silu", "hard_swish"}, Alias{"swish", "silu"}};

std::string_view without_alias(std::string_view name) {
  const auto alias =
      std::find_if(kAliases.begin(), kAliases.end(), [&](const Alias& a) { return a.name == name; });
  return alias == kAliases.end() ? name : alias->of;
}

/// Returns the traits of the layer `entry`, which do not depend on its settings.
LayerTraits traits_of(const LayerEntry& entry) { return entry.maker.make(nullptr)->traits(); }

/// The layers that `activation = "..."` may name; "linear" means none.
struct Name {
  std::string_view name;
};
const std::vector<Name>& activations() {
  static const std::vector<Name> names = [] {
    std::vector<Name> list{{"linear"}};
    for (const LayerEntry& entry : kLayers) {
      if (traits_of(entry).is_activation) list.push_back({entry.name});
    }
    return list;
  }();
  return names;
}

/// The settings that every layer accepts.
struct Wiring {
  std::string layer, name, activation;
  std::vector<std::string> inputs;
  ParameterOptions options;
};

/// Replaces slashes in a name, which recipes may contain: files store parameters by name, and HDF5 uses
/// slashes for groups.
std::string flat(std::string name) {
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

constexpr std::array kWiringKeys{
    key<&Wiring::name>({.name = "name",
                        .fallback = "its kind and a number",
                        .help = "name of the layer, for `inputs` of others"}),
    key<&Wiring::inputs>({.name = "inputs",
                          .fallback = "the layer before it",
                          .help = "names of the layers whose outputs it reads"}),
    key<&Wiring::activation>(
        {.name = "activation",
         .fallback = "none",
         .help = "an activation, with its defaults, after a layer with weights or `add`"}),
    key<&Wiring::options, &ParameterOptions::trainable>(
        {.name = "trainable", .help = "false freezes its parameters"}),
    key<&Wiring::options, &ParameterOptions::l1>(
        {.name = "l1", .range = kNotNegative, .help = "penalty l1 Σ|w| on its weights"}),
    key<&Wiring::options, &ParameterOptions::l2>(
        {.name = "l2", .range = kNotNegative, .help = "penalty l2 Σw² on its weights"})};
constexpr std::size_t kNameKeys = 3;  // a shared layer has no options of its own

void read_wiring(SettingsReader& read, std::span<const Key<Wiring>> keys, Wiring& wiring) {
  read_keys(keys, read, wiring);
  wiring.name = flat(wiring.name);
  std::transform(wiring.inputs.begin(), wiring.inputs.end(), wiring.inputs.begin(), flat);
  wiring.activation = without_alias(wiring.activation);
  if (!wiring.activation.empty())
    find_in(activations(), wiring.activation, "activation", read.place("activation"));
}

SettingsReader reader_of(const Settings& settings, std::string_view layer) {
  SettingsReader read(settings, fmt::format("layer \"{}\"", layer));
  read.has("layer");
  return read;
}

/// Far above the numbers of any layer; the product of two of them fits easily.
constexpr std::int64_t kMostNumber = std::int64_t{1} << 24;

bool is_too_large(const Value& value) {
  if (const auto* list = std::get_if<Value::Array>(&value.data()))
    return std::ranges::any_of(*list, is_too_large);
  const auto* number = std::get_if<std::int64_t>(&value.data());
  return number != nullptr && (*number < -kMostNumber || *number > kMostNumber);
}

LayerPtr read_layer(const Settings& settings, Wiring& wiring) {
  SettingsReader first(settings, "layer");
  wiring.layer = without_alias(first.require_string("layer"));
  const LayerEntry& entry = find_in(kLayers, wiring.layer, "layer", settings.where());
  SettingsReader read = reader_of(settings, wiring.layer);
  read_wiring(read, kWiringKeys, wiring);
  LayerPtr layer = entry.maker.make(&read);
  read.finish();
  const std::string range = fmt::format("between {} and {}", -kMostNumber, kMostNumber);
  const Settings resolved = layer->settings();  // has whole numbers where the layer has them
  for (const auto& [key, value] : resolved.entries()) read.check(key, !is_too_large(value), range);
  return layer;
}

/// Reads { layer = "shared", of = "name" }, which applies the layer of another node again. Returns that node.
/// `of` may name the result of a layer with an activation; the activation itself must be given again.
std::size_t read_shared(const Settings& settings, const Graph& graph, Wiring& wiring) {
  SettingsReader read = reader_of(settings, "shared");
  wiring.layer = "shared";
  const std::string name = read.require_string("of");
  read_wiring(read, std::span(kWiringKeys).first(kNameKeys), wiring);
  const Node* of = &graph.node(graph.find(flat(name)));
  if (of->layer != nullptr && of->layer->traits().is_activation &&
      graph.node(of->inputs[0]).name.starts_with(of->name + ".")) {
    of = &graph.node(of->inputs[0]);
  }
  read.finish();
  return of->index;
}

bool is_shared(const Settings& settings) {
  const Value* layer = settings.find("layer");
  return layer != nullptr && *layer == Value("shared");
}

}  // namespace

LayerPtr make_layer(const Settings& settings) {
  Wiring wiring;
  return read_layer(settings, wiring);
}

std::vector<LayerHelp> layer_guide() {
  std::vector<LayerHelp> guide;
  for (const LayerEntry& entry : kLayers) {
    guide.push_back({std::string(entry.name), std::string(entry.family), std::string(entry.help),
                     traits_of(entry).inputs == LayerTraits::Inputs::kSeveral, entry.maker.describe()});
  }
  return guide;
}

std::vector<KeyDescription> common_layer_keys() { return describe_keys(kWiringKeys); }

Graph build_graph(const ValueSpec& input, const std::vector<Settings>& layers) {
  Graph graph(input);
  for (const Settings& settings : layers) {
    Wiring wiring;
    try {
      const bool shared = is_shared(settings);
      const std::size_t of = shared ? read_shared(settings, graph, wiring) : 0;
      const LayerPtr layer = shared ? nullptr : read_layer(settings, wiring);
      std::vector<std::size_t> from;
      for (const std::string& name : wiring.inputs) from.push_back(graph.find(name));
      if (from.empty()) from.push_back(graph.nodes().size() - 1);
      const bool activated = !wiring.activation.empty() && wiring.activation != "linear";
      // With an activation, the name belongs to the result, so that `inputs` refers to the result.
      const std::string own =
          activated && !wiring.name.empty() ? wiring.name + "." + wiring.layer : wiring.name;
      const std::size_t node = shared ? graph.share(of, from, own) : graph.add(layer, from, own);
      if (!shared && !wiring.activation.empty() && graph.node(node).parameters.empty() &&
          !layer->traits().takes_activation) {
        throw Error(
            fmt::format("{} accepts no \"activation\": it has no weights", graph.node(node).name),
            fmt::format("write the activation as a separate layer: {{ layer = \"{}\" }}", wiring.activation));
      }
      if (wiring.options != ParameterOptions{}) graph.set_options(node, wiring.options);
      if (activated) {
        Settings short_form{{"layer", wiring.activation}};
        short_form.set_where(settings.where());
        graph.add(make_layer(short_form), {node}, wiring.name);
      }
    } catch (const Error& error) {
      const std::string what = error.what();
      const bool placed = settings.where().empty() || what.starts_with(settings.where());
      throw Error(placed ? what : settings.where() + ": " + what, error.hint());
    }
  }
  return graph;
}

ValueSpec input_of(const Shape& input, const std::vector<Settings>& layers) {
  const bool embeds = std::any_of(layers.begin(), layers.end(), [](const Settings& settings) {
    const Value* type = settings.find("layer");
    return std::any_of(kLayers.begin(), kLayers.end(), [&](const LayerEntry& entry) {
      return type != nullptr && *type == Value(entry.name) && traits_of(entry).vocabulary > 0;
    });
  });
  return {input, embeds ? ValueType::kToken : ValueType::kReal};
}

std::vector<Settings> describe_graph(const Graph& graph) {
  std::vector<Settings> layers;
  for (const Node& node : graph.nodes()) {
    if (node.layer == nullptr) continue;
    const bool shared = node.parameters_of != node.index;
    Settings settings{{"layer", shared ? "shared" : std::string(node.layer->type())}, {"name", node.name}};
    Value::Array inputs;
    for (const std::size_t input : node.inputs) inputs.emplace_back(graph.node(input).name);
    settings.set("inputs", std::move(inputs));
    if (shared) {
      settings.set("of", graph.owner(node).name);
      layers.push_back(std::move(settings));
      continue;
    }
    const Settings own = node.layer->settings();  // named: its entries must outlive the loop
    for (const auto& [key, value] : own.entries()) settings.set(key, value);
    if (!node.options.trainable) settings.set("trainable", false);
    if (node.options.l1 != 0) settings.set("l1", node.options.l1);
    if (node.options.l2 != 0) settings.set("l2", node.options.l2);
    layers.push_back(std::move(settings));
  }
  return layers;
}

std::vector<ValueRange> value_ranges(const Graph& graph) {
  std::vector<ValueRange> ranges;
  for (const Node& node : graph.nodes()) {
    ranges.emplace_back();
    if (node.layer == nullptr) continue;
    const auto entry = std::ranges::find(kLayers, node.layer->type(), &LayerEntry::name);
    if (entry == kLayers.end() || entry->range == nullptr) continue;
    std::vector<ValueRange> inputs;
    for (const std::size_t input : node.inputs) inputs.push_back(ranges[input]);
    ranges.back() = entry->range({graph, node, inputs});
  }
  return ranges;
}

}  // namespace convoke::nn

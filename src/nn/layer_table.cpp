#include "convoke/nn/layer_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/batch_norm.hpp"
#include "convoke/nn/layers/border.hpp"
#include "convoke/nn/layers/channel_scale.hpp"
#include "convoke/nn/layers/channel_shuffle.hpp"
#include "convoke/nn/layers/concat.hpp"
#include "convoke/nn/layers/conv1d.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/conv2d_transpose.hpp"
#include "convoke/nn/layers/dense.hpp"
#include "convoke/nn/layers/dropout.hpp"
#include "convoke/nn/layers/embedding.hpp"
#include "convoke/nn/layers/gaussian_noise.hpp"
#include "convoke/nn/layers/group_norm.hpp"
#include "convoke/nn/layers/layer_norm.hpp"
#include "convoke/nn/layers/local_response_norm.hpp"
#include "convoke/nn/layers/merge.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "convoke/nn/layers/pool1d.hpp"
#include "convoke/nn/layers/prelu.hpp"
#include "convoke/nn/layers/recurrent.hpp"
#include "convoke/nn/layers/rescale.hpp"
#include "convoke/nn/layers/reshape.hpp"
#include "convoke/nn/layers/resize.hpp"
#include "convoke/nn/layers/separable_conv2d.hpp"
#include "convoke/nn/layers/slice.hpp"
#include "convoke/nn/layers/softmax.hpp"
#include "convoke/nn/layers/stochastic_depth.hpp"
#include "convoke/nn/layers/structure.hpp"

namespace convoke::nn {
namespace {

struct LayerEntry {
  std::string_view name;
  LayerPtr (*make)(SettingsReader& read);
};

/// A layer without hyper-parameters.
template <class L>
LayerPtr plain(SettingsReader&) {
  return std::make_shared<L>();
}

template <GlobalPool::Mode kMode, GlobalPool::Over kOver>
LayerPtr global_pool(SettingsReader&) {
  return std::make_shared<GlobalPool>(kMode, kOver);
}

constexpr auto kAverage = GlobalPool::Mode::kAverage;
constexpr auto kMax = GlobalPool::Mode::kMax;
constexpr auto kImage = GlobalPool::Over::kImage;
constexpr auto kSequence = GlobalPool::Over::kSequence;

constexpr std::array kLayers{
    LayerEntry{"adaptive_average_pool", AdaptivePool::make<kAverage>},
    LayerEntry{"adaptive_max_pool", AdaptivePool::make<kMax>},
    LayerEntry{"add", plain<Add>},
    LayerEntry{"average", plain<Average>},
    LayerEntry{"average_pool", AveragePool::make},
    LayerEntry{"average_pool1d", Pool1d::make<kAverage>},
    LayerEntry{"batch_norm", BatchNorm::make},
    LayerEntry{"channel_scale", ChannelScale::make},
    LayerEntry{"channel_shuffle", ChannelShuffle::make},
    LayerEntry{"concat", Concat::make},
    LayerEntry{"conv1d", Conv1d::make},
    LayerEntry{"conv2d", Conv2d::make},
    LayerEntry{"conv2d_transpose", Conv2dTranspose::make},
    LayerEntry{"crop", Crop::make},
    LayerEntry{"dense", Dense::make},
    LayerEntry{"depthwise_conv2d", DepthwiseConv2d::make},
    LayerEntry{"dropout", Dropout::make},
    LayerEntry{"elu", Activation::make<Activation::Function::kElu>},
    LayerEntry{"embedding", Embedding::make},
    LayerEntry{"flatten", plain<Flatten>},
    LayerEntry{"gaussian_noise", GaussianNoise::make},
    LayerEntry{"gelu", Activation::make<Activation::Function::kGelu>},
    LayerEntry{"global_average_pool", global_pool<kAverage, kImage>},
    LayerEntry{"global_average_pool1d", global_pool<kAverage, kSequence>},
    LayerEntry{"global_max_pool", global_pool<kMax, kImage>},
    LayerEntry{"global_max_pool1d", global_pool<kMax, kSequence>},
    LayerEntry{"group_norm", GroupNorm::make},
    LayerEntry{"gru", Gru::make},
    LayerEntry{"hard_sigmoid", Activation::make<Activation::Function::kHardSigmoid>},
    LayerEntry{"hard_swish", Activation::make<Activation::Function::kHardSwish>},
    LayerEntry{"identity", plain<Identity>},
    LayerEntry{"layer_norm", LayerNorm::make},
    LayerEntry{"leaky_relu", Activation::make<Activation::Function::kLeakyRelu>},
    LayerEntry{"local_response_norm", LocalResponseNorm::make},
    LayerEntry{"lstm", Lstm::make},
    LayerEntry{"max_pool", MaxPool::make},
    LayerEntry{"max_pool1d", Pool1d::make<kMax>},
    LayerEntry{"maximum", plain<Maximum>},
    LayerEntry{"multiply", plain<Multiply>},
    LayerEntry{"permute", Permute::make},
    LayerEntry{"prelu", PRelu::make},
    LayerEntry{"relu", Activation::make<Activation::Function::kRelu>},
    LayerEntry{"relu6", Activation::make<Activation::Function::kRelu6>},
    LayerEntry{"rescale", Rescale::make},
    LayerEntry{"reshape", Reshape::make},
    LayerEntry{"resize", Resize::make},
    LayerEntry{"selu", Activation::make<Activation::Function::kSelu>},
    LayerEntry{"separable_conv2d", SeparableConv2d::make},
    LayerEntry{"sigmoid", Activation::make<Activation::Function::kSigmoid>},
    LayerEntry{"silu", Activation::make<Activation::Function::kSilu>},
    LayerEntry{"slice", Slice::make},
    LayerEntry{"softmax", plain<Softmax>},
    LayerEntry{"softplus", Activation::make<Activation::Function::kSoftplus>},
    LayerEntry{"standardize", Standardize::make},
    LayerEntry{"stochastic_depth", StochasticDepth::make},
    LayerEntry{"subtract", plain<Subtract>},
    LayerEntry{"tanh", Activation::make<Activation::Function::kTanh>},
    LayerEntry{"zero_pad", ZeroPad::make},
};

/// What `activation = "..."` may name: layers of one input that need no settings; "linear" is none.
struct Name {
  std::string_view name;
};
constexpr std::array kActivations{
    Name{"elu"},     Name{"gelu"},  Name{"hard_sigmoid"}, Name{"hard_swish"}, Name{"leaky_relu"},
    Name{"linear"},  Name{"prelu"}, Name{"relu"},         Name{"relu6"},      Name{"selu"},
    Name{"sigmoid"}, Name{"silu"},  Name{"softmax"},      Name{"softplus"},   Name{"tanh"},
};

/// Other names of the same: those of Keras and of the papers.
struct LayerAlias {
  std::string_view name, of;
};
constexpr std::array kLayerAliases{LayerAlias{"hard_silu", "hard_swish"}, LayerAlias{"swish", "silu"}};

std::string_view without_alias(std::string_view name) {
  const auto alias = std::find_if(kLayerAliases.begin(), kLayerAliases.end(),
                                  [&](const LayerAlias& a) { return a.name == name; });
  return alias == kLayerAliases.end() ? name : alias->of;
}

/// What every layer may have beside its own settings.
struct Wiring {
  std::string layer, name, activation;
  std::vector<std::string> inputs;
  ParameterOptions options;
};

/// Names are flat, since files store parameters by them and HDF5 takes a slash for a group. Recipes may have
/// slashes in names, and the graphs of files written by 0.1 do.
std::string flat(std::string name) {
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

void read_options(SettingsReader& read, ParameterOptions& options) {
  options.trainable = read.get("trainable", options.trainable);
  options.l1 = read.get("l1", options.l1);
  options.l2 = read.get("l2", options.l2);
  read.check("l1", options.l1 >= 0, "at least 0");
  read.check("l2", options.l2 >= 0, "at least 0");
}

void read_names(SettingsReader& read, const Settings& settings, Wiring& wiring) {
  wiring.name = flat(read.get("name", ""));
  wiring.inputs = read.get("inputs", std::vector<std::string>{});
  std::transform(wiring.inputs.begin(), wiring.inputs.end(), wiring.inputs.begin(), flat);
  if (!read.has("activation")) return;
  wiring.activation = without_alias(read.get("activation", ""));
  find_in(kActivations, wiring.activation, "activation", settings.where());
}

LayerPtr read_layer(const Settings& settings, Wiring& wiring) {
  SettingsReader first(settings, "layer");
  wiring.layer = without_alias(first.require_string("layer"));
  const LayerEntry& entry = find_in(kLayers, wiring.layer, "layer", settings.where());
  SettingsReader read(settings, fmt::format("layer \"{}\"", wiring.layer));
  read.has("layer");
  read_names(read, settings, wiring);
  read_options(read, wiring.options);
  LayerPtr layer = entry.make(read);
  read.finish();
  return layer;
}

/// { layer = "shared", of = "name" }: the layer of another node once more. Returns that node. `of` may name
/// the result of a layer with an activation; the activation itself is asked for anew.
std::size_t read_shared(const Settings& settings, const Graph& graph, Wiring& wiring) {
  SettingsReader read(settings, "layer \"shared\"");
  wiring.layer = read.require_string("layer");
  const std::string name = read.require_string("of");
  read_names(read, settings, wiring);
  const Node* of = &graph.node(graph.find(flat(name)));
  if (of->layer != nullptr && of->inputs.size() == 1 &&
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

std::vector<std::string> layer_names() { return names_in(kLayers); }

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
      // With an activation, the name is that of the result, so that `inputs` means what it says.
      const std::string own =
          activated && !wiring.name.empty() ? wiring.name + "." + wiring.layer : wiring.name;
      const std::size_t node = shared ? graph.share(of, from, own) : graph.add(layer, from, own);
      if (!shared && !wiring.activation.empty() && graph.node(node).parameters.empty() &&
          layer->type() != "add") {
        throw Error(fmt::format("{} takes no \"activation\": it has no weights", graph.node(node).name),
                    fmt::format("write the activation as a layer of its own: {{ layer = \"{}\" }}",
                                wiring.activation));
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
  const bool embeds = std::any_of(layers.begin(), layers.end(), [](const Settings& layer) {
    const Value* type = layer.find("layer");
    return type != nullptr && *type == Value("embedding");
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

}  // namespace convoke::nn

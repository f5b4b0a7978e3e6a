#include "convoke/nn/layer_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/nn/layers/activation.hpp"
#include "convoke/nn/layers/batch_norm.hpp"
#include "convoke/nn/layers/border.hpp"
#include "convoke/nn/layers/conv1d.hpp"
#include "convoke/nn/layers/conv2d.hpp"
#include "convoke/nn/layers/conv2d_transpose.hpp"
#include "convoke/nn/layers/dense.hpp"
#include "convoke/nn/layers/dropout.hpp"
#include "convoke/nn/layers/gaussian_noise.hpp"
#include "convoke/nn/layers/group_norm.hpp"
#include "convoke/nn/layers/layer_norm.hpp"
#include "convoke/nn/layers/local_response_norm.hpp"
#include "convoke/nn/layers/pool.hpp"
#include "convoke/nn/layers/pool1d.hpp"
#include "convoke/nn/layers/prelu.hpp"
#include "convoke/nn/layers/rescale.hpp"
#include "convoke/nn/layers/resize.hpp"
#include "convoke/nn/layers/separable_conv2d.hpp"
#include "convoke/nn/layers/softmax.hpp"
#include "convoke/nn/layers/stochastic_depth.hpp"
#include "convoke/nn/layers/structure.hpp"

namespace convoke::nn {
namespace {

struct Entry {
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
    Entry{"adaptive_average_pool", AdaptivePool::make<kAverage>},
    Entry{"adaptive_max_pool", AdaptivePool::make<kMax>},
    Entry{"add", plain<Add>},
    Entry{"average_pool", AveragePool::make},
    Entry{"average_pool1d", Pool1d::make<kAverage>},
    Entry{"batch_norm", BatchNorm::make},
    Entry{"conv1d", Conv1d::make},
    Entry{"conv2d", Conv2d::make},
    Entry{"conv2d_transpose", Conv2dTranspose::make},
    Entry{"crop", Crop::make},
    Entry{"dense", Dense::make},
    Entry{"depthwise_conv2d", DepthwiseConv2d::make},
    Entry{"dropout", Dropout::make},
    Entry{"elu", Activation::make<Activation::Function::kElu>},
    Entry{"flatten", plain<Flatten>},
    Entry{"gaussian_noise", GaussianNoise::make},
    Entry{"gelu", Activation::make<Activation::Function::kGelu>},
    Entry{"global_average_pool", global_pool<kAverage, kImage>},
    Entry{"global_average_pool1d", global_pool<kAverage, kSequence>},
    Entry{"global_max_pool", global_pool<kMax, kImage>},
    Entry{"global_max_pool1d", global_pool<kMax, kSequence>},
    Entry{"group_norm", GroupNorm::make},
    Entry{"hard_sigmoid", Activation::make<Activation::Function::kHardSigmoid>},
    Entry{"hard_swish", Activation::make<Activation::Function::kHardSwish>},
    Entry{"layer_norm", LayerNorm::make},
    Entry{"leaky_relu", Activation::make<Activation::Function::kLeakyRelu>},
    Entry{"local_response_norm", LocalResponseNorm::make},
    Entry{"max_pool", MaxPool::make},
    Entry{"max_pool1d", Pool1d::make<kMax>},
    Entry{"prelu", PRelu::make},
    Entry{"relu", Activation::make<Activation::Function::kRelu>},
    Entry{"relu6", Activation::make<Activation::Function::kRelu6>},
    Entry{"rescale", Rescale::make},
    Entry{"resize", Resize::make},
    Entry{"selu", Activation::make<Activation::Function::kSelu>},
    Entry{"separable_conv2d", SeparableConv2d::make},
    Entry{"sigmoid", Activation::make<Activation::Function::kSigmoid>},
    Entry{"silu", Activation::make<Activation::Function::kSilu>},
    Entry{"softmax", plain<Softmax>},
    Entry{"softplus", Activation::make<Activation::Function::kSoftplus>},
    Entry{"standardize", Standardize::make},
    Entry{"stochastic_depth", StochasticDepth::make},
    Entry{"tanh", Activation::make<Activation::Function::kTanh>},
    Entry{"zero_pad", ZeroPad::make},
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
struct Alias {
  std::string_view name, of;
};
constexpr std::array kAliases{Alias{"hard_silu", "hard_swish"}, Alias{"swish", "silu"}};

std::string_view without_alias(std::string_view name) {
  const auto alias =
      std::find_if(kAliases.begin(), kAliases.end(), [&](const Alias& a) { return a.name == name; });
  return alias == kAliases.end() ? name : alias->of;
}

/// Reads what every layer may have beside its own settings.
struct Wiring {
  std::string layer, name, activation;
  std::vector<std::string> inputs;
};

/// Names are flat, since files store parameters by them and HDF5 takes a slash for a group. Recipes may have
/// slashes in names, and the graphs of files written by 0.1 do.
std::string flat(std::string name) {
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

LayerPtr read_layer(const Settings& settings, Wiring& wiring) {
  SettingsReader first(settings, "layer");
  wiring.layer = without_alias(first.require_string("layer"));
  const Entry& entry = find_in(kLayers, wiring.layer, "layer", settings.where());
  SettingsReader read(settings, fmt::format("layer \"{}\"", wiring.layer));
  read.has("layer");
  wiring.name = flat(read.get("name", ""));
  wiring.inputs = read.get("inputs", std::vector<std::string>{});
  std::transform(wiring.inputs.begin(), wiring.inputs.end(), wiring.inputs.begin(), flat);
  if (read.has("activation")) {
    wiring.activation = without_alias(read.get("activation", ""));
    find_in(kActivations, wiring.activation, "activation", settings.where());
  }
  LayerPtr layer = entry.make(read);
  read.finish();
  return layer;
}

}  // namespace

LayerPtr make_layer(const Settings& settings) {
  Wiring wiring;
  return read_layer(settings, wiring);
}

std::vector<std::string> layer_names() { return names_in(kLayers); }

Graph build_graph(const Shape& input, const std::vector<Settings>& layers) {
  Graph graph(input);
  for (const Settings& settings : layers) {
    Wiring wiring;
    const LayerPtr layer = read_layer(settings, wiring);
    try {
      std::vector<std::size_t> from;
      for (const std::string& name : wiring.inputs) from.push_back(graph.find(name));
      if (from.empty()) from.push_back(graph.nodes().size() - 1);
      if (from.size() > 1 && layer->type() != "add")
        throw Error(fmt::format("a {} layer has one input", layer->type()));
      const bool activated = !wiring.activation.empty() && wiring.activation != "linear";
      // With an activation, the name is that of the result, so that `inputs` means what it says.
      const std::string own =
          activated && !wiring.name.empty() ? wiring.name + "." + wiring.layer : wiring.name;
      const std::size_t node = graph.add(layer, from, own);
      if (!wiring.activation.empty() && graph.node(node).parameters.empty() && layer->type() != "add") {
        throw Error(fmt::format("{} takes no \"activation\": it has no weights", graph.node(node).name),
                    fmt::format("write the activation as a layer of its own: {{ layer = \"{}\" }}",
                                wiring.activation));
      }
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

std::vector<Settings> describe_graph(const Graph& graph) {
  std::vector<Settings> layers;
  for (const Node& node : graph.nodes()) {
    if (node.layer == nullptr) continue;
    Settings settings{{"layer", std::string(node.layer->type())}, {"name", node.name}};
    Value::Array inputs;
    for (const std::size_t input : node.inputs) inputs.emplace_back(graph.node(input).name);
    settings.set("inputs", std::move(inputs));
    const Settings own = node.layer->settings();  // named: its entries must outlive the loop
    for (const auto& [key, value] : own.entries()) settings.set(key, value);
    layers.push_back(std::move(settings));
  }
  return layers;
}

}  // namespace convoke::nn

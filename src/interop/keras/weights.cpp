#include "interop/keras/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/nn/layer.hpp"

namespace convoke::interop::keras {
namespace {

constexpr std::size_t kMostTensors = 100'000;

/// Makes the tensor of an HDF5 dataset. Throws Error if other files hold its values, if it takes too few
/// bytes in the file for its shape, or if it holds no numbers.
Tensor tensor_of(std::shared_ptr<const hdf5::File> file, const std::string& path) {
  const hdf5::Dataset dataset = file->dataset(path);
  Tensor tensor{.name = path, .shape = dataset.shape(), .type = NumberType::kFloat32, .read = {}};
  constexpr std::uint64_t kMostShrunk = 4 * 1032;  // fp32 of equal values, deflated
  if (tensor.bytes() > dataset.stored_bytes() * kMostShrunk) {
    throw Error(fmt::format("{}: has the shape {}, but takes {} in the file", dataset.where(),
                            tensor.shape.to_string(), format_bytes(dataset.stored_bytes())),
                "the file is damaged: save the model again");
  }
  tensor.read = [file = std::move(file), path, whole = std::make_shared<std::vector<float>>()](
                    std::uint64_t offset, std::span<std::byte> bytes) {
    if (whole->empty()) {
      *whole = file->read<float>(path);
      file->release_memory();
    }
    std::memcpy(bytes.data(), reinterpret_cast<const std::byte*>(whole->data()) + offset, bytes.size());
    if (offset + bytes.size() == whole->size() * sizeof(float))
      std::vector<float>().swap(*whole);  // "= {}" would keep its memory
  };
  return tensor;
}

// Keras 2.12 and 2.13 say this for "layers".
constexpr std::string_view kLayersBefore = "_layer_checkpoint_dependencies";

// The layout of Keras 3, and of Keras 2.12 to 2.15 in its file of the same name. A group "vars" holds the
// tensors of one object. `find`: returns the tensor of a path, if there is one.
template <class HasGroup, class Find>
WeightSource weights_by_place(HasGroup has_group, Find find) {
  return [=](std::span<const Place> path, std::span<const std::string_view> parts) {
    std::string group;
    for (const Place& place : path) {
      const std::string before = fmt::format("{}/{}/{}", group, kLayersBefore, place.key);
      group += "/layers/" + place.key;
      if (!has_group(group) && has_group(before)) group = before;
    }
    std::vector<Tensor> tensors;
    for (const std::string_view part : parts) {
      const std::string vars = group + (part.empty() ? "/vars" : fmt::format("/{}/vars", part));
      for (std::size_t i = 0; const std::optional<Tensor> tensor = find(fmt::format("{}/{}", vars, i)); ++i)
        tensors.push_back(*tensor);
    }
    return tensors;
  };
}

// The converter of TensorFlow.js takes its names from a file in that layout: "layers/dense_1/vars/0".
bool is_named_by_place(const Tensor& tensor) {
  const std::string& name = tensor.name;
  return (name.starts_with("layers/") || name.starts_with(kLayersBefore)) &&
         name.find("/vars/") != std::string::npos;
}

// The group of the weights in the layout of Keras 1 and 2.
hdf5::Group weights_group(const hdf5::File& file) {
  return file.group(file.has_group("model_weights") ? "/model_weights" : "/");
}

// Texts that exceed an attribute are stored in several: "weight_names0", "weight_names1", ...
std::vector<std::string> chunked_texts(const hdf5::Object& object, const std::string& name) {
  if (object.has_attribute(name)) return object.attribute<std::vector<std::string>>(name);
  std::vector<std::string> all;
  for (int i = 0; object.has_attribute(fmt::format("{}{}", name, i)); ++i) {
    const auto part = object.attribute<std::vector<std::string>>(fmt::format("{}{}", name, i));
    all.insert(all.end(), part.begin(), part.end());
    if (all.size() > kMostTensors) break;
  }
  return all;
}

std::vector<Tensor> tensors_in(const std::shared_ptr<const hdf5::File>& file, const hdf5::Group& group) {
  std::vector<Tensor> tensors;
  for (const std::string& name : chunked_texts(group, "weight_names")) {
    tensors.push_back(tensor_of(file, group.path() + "/" + name));
    tensors.back().name = name;
  }
  return tensors;
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The tensors whose name has `layer` as a part before the last one: "layer/kernel:0"; without any that begin
// so, also "scope/layer/bias", as in other layers of that name.
std::vector<Tensor> of_layer(std::span<const Tensor> tensors, const std::string& layer) {
  std::vector<Tensor> chosen;
  const std::vector<std::string> wanted = parts_of(layer);
  for (const Tensor& tensor : tensors) {
    std::vector<std::string> parts = parts_of(tensor.name);
    parts.pop_back();
    if (std::search(parts.begin(), parts.end(), wanted.begin(), wanted.end()) != parts.end()) {
      chosen.push_back(tensor);
    }
  }
  std::vector<Tensor> direct;
  std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(direct),
               [&](const Tensor& tensor) { return tensor.name.starts_with(layer + "/"); });
  return direct.empty() ? chosen : direct;
}

// The groups "vars" of one layer, and those of the objects within it, forward before backward.
void collect(const std::shared_ptr<const hdf5::File>& file, const hdf5::Group& group, StoredLayer& layer,
             int depth) {
  if (group.has_group("vars")) {
    const hdf5::Group vars = group.group("vars");
    if (layer.name.empty() && vars.has_attribute("name")) layer.name = vars.attribute<std::string>("name");
    for (std::size_t i = 0; vars.has_dataset(std::to_string(i)); ++i) {
      layer.tensors.push_back(tensor_of(file, vars.path() + "/" + std::to_string(i)));
    }
  }
  for (const char* part : {"forward_layer", "backward_layer", "cell", "layer"}) {
    if (depth < 4 && group.has_group(part)) collect(file, group.group(part), layer, depth + 1);
  }
}

// Nested models have "layers" of their own.
void collect_layers(const std::shared_ptr<const hdf5::File>& file, const hdf5::Group& group,
                    std::vector<StoredLayer>& layers, int depth) {
  constexpr int kDeepest = 16;
  if (!group.has_group("layers") || depth > kDeepest) return;
  const hdf5::Group all = group.group("layers");
  for (const std::string& key : all.children()) {
    if (!all.has_group(key)) continue;
    const hdf5::Group one = all.group(key);
    StoredLayer layer;
    collect(file, one, layer, 0);
    if (!layer.tensors.empty()) layers.push_back(std::move(layer));
    collect_layers(file, one, layers, depth + 1);
    if (layers.size() > kMostTensors) throw Error(fmt::format("{}: has too many layers", file->where()));
  }
}

}  // namespace

WeightSource keras3_weights(std::shared_ptr<const hdf5::File> file) {
  return weights_by_place([file](const std::string& group) { return file->has_group(group); },
                          [file](const std::string& path) {
                            return file->has_dataset(path) ? std::optional(tensor_of(file, path))
                                                           : std::nullopt;
                          });
}

WeightSource legacy_weights(std::shared_ptr<const hdf5::File> file) {
  // A nested model has one group for the weights of all its layers.
  const auto groups = std::make_shared<std::map<std::string, std::vector<Tensor>>>();
  return [file = std::move(file), groups](std::span<const Place> path, std::span<const std::string_view>) {
    const std::string& outer = path.front().name;
    auto known = groups->find(outer);
    if (known == groups->end()) {
      const hdf5::Group all = weights_group(*file);
      std::vector<Tensor> tensors;
      if (all.has_group(outer)) tensors = tensors_in(file, all.group(outer));
      known = groups->emplace(outer, std::move(tensors)).first;
    }
    if (path.size() == 1) return known->second;
    // Keras 3 puts the names of enclosing models before the layer's, but not always all of them.
    for (std::span<const Place> end = path; !end.empty(); end = end.subspan(1)) {
      std::vector<Tensor> tensors = of_layer(known->second, join(names_in(end), "/"));
      if (!tensors.empty()) return tensors;
    }
    return std::vector<Tensor>();
  };
}

WeightSource named_weights(std::vector<Tensor> tensors) {
  if (std::any_of(tensors.begin(), tensors.end(), is_named_by_place)) {
    std::map<std::string, Tensor> by_path;
    for (const Tensor& tensor : tensors) by_path.emplace("/" + tensor.name, tensor);
    const auto all = std::make_shared<const std::map<std::string, Tensor>>(std::move(by_path));
    return weights_by_place(
        [all](const std::string& group) {
          const auto first = all->lower_bound(group + "/");
          return first != all->end() && first->first.starts_with(group + "/");
        },
        [all](const std::string& path) {
          const auto found = all->find(path);
          return found == all->end() ? std::nullopt : std::optional(found->second);
        });
  }
  std::map<std::string, std::set<std::size_t>> by_part;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::vector<std::string> parts = parts_of(tensors[i].name);
    for (std::size_t p = 0; p + 1 < parts.size(); ++p) by_part[parts[p]].insert(i);
  }
  return [tensors = std::move(tensors), by_part = std::move(by_part)](std::span<const Place> path,
                                                                      std::span<const std::string_view>) {
    const std::string& layer = path.back().name;
    const auto found = by_part.find(parts_of(layer).front());
    if (found == by_part.end()) return std::vector<Tensor>();
    std::vector<Tensor> near;
    for (const std::size_t i : found->second) near.push_back(tensors[i]);
    return of_layer(near, layer);
  };
}

std::vector<StoredLayer> stored_layers(const std::shared_ptr<const hdf5::File>& file) {
  std::vector<StoredLayer> layers;
  const hdf5::Group group = weights_group(*file);
  const std::vector<std::string> names = chunked_texts(group, "layer_names");
  for (const std::string& name : names) {
    if (!group.has_group(name)) continue;
    std::vector<Tensor> tensors = tensors_in(file, group.group(name));
    if (!tensors.empty()) layers.push_back({.name = name, .tensors = std::move(tensors)});
  }
  if (names.empty()) collect_layers(file, *file, layers, 0);
  return layers;
}

namespace {

constexpr std::string_view kBackward = "backward_";  // parameters of a second direction

constexpr std::array kLayouts{
    WeightLayout{"conv1d", "weight", "kernel", 3, {2, 1, 0}},
    WeightLayout{"conv2d", "weight", "kernel", 4, {3, 2, 0, 1}},
    WeightLayout{"conv2d_transpose", "weight", "kernel", 4, {2, 3, 0, 1}},
    WeightLayout{"dense", "weight", "kernel", 2, {1, 0}},
    WeightLayout{"depthwise_conv2d", "weight", "depthwise_kernel", 4, {2, 3, 0, 1}, true},
    WeightLayout{"embedding", "weight", "embeddings", 2, {0, 1}},
    WeightLayout{"gru", "weight", "kernel", 2, {1, 0}},
    WeightLayout{"gru", "recurrent_weight", "recurrent_kernel", 2, {1, 0}},
    WeightLayout{"lstm", "weight", "kernel", 2, {1, 0}},
    WeightLayout{"lstm", "recurrent_weight", "recurrent_kernel", 2, {1, 0}},
    WeightLayout{"separable_conv2d", "depthwise_weight", "depthwise_kernel", 4, {2, 3, 0, 1}, true},
    WeightLayout{"separable_conv2d", "pointwise_weight", "pointwise_kernel", 4, {3, 2, 0, 1}},
    // vectors of all layers
    WeightLayout{"", "alpha", "alpha", 1, {0}},
    WeightLayout{"", "beta", "beta", 1, {0}},
    WeightLayout{"", "bias", "bias", 1, {0}},
    WeightLayout{"", "gamma", "gamma", 1, {0}},
    WeightLayout{"", "running_mean", "moving_mean", 1, {0}},
    WeightLayout{"", "running_variance", "moving_variance", 1, {0}},
};

// Axes of extent 1 in front do not count: a dense layer may be stored as a 1 x 1 convolution, and the
// reverse.
Shape with_rank(const Shape& shape, std::size_t rank) {
  std::vector<std::int64_t> extents = shape.extents();
  while (extents.size() > rank && extents.front() == 1) extents.erase(extents.begin());
  while (extents.size() < rank) extents.insert(extents.begin(), 1);
  return Shape(extents);
}

Shape canonical_shape(const Shape& stored, const WeightLayout& how) {
  std::vector<std::int64_t> extents;
  for (std::size_t i = 0; i < how.rank; ++i) extents.push_back(stored[how.axes[i]]);
  if (how.depthwise) extents = {extents[0] * extents[1], 1, extents[2], extents[3]};
  return Shape(extents);
}

[[noreturn]] void misfit(const nn::Node& node, const std::string& parameter, const Tensor& tensor,
                         const Shape& needed) {
  throw Error(fmt::format("its {} needs a weight that becomes {}, but the file has {} {}", parameter,
                          needed.to_string(), tensor.name, tensor.shape.to_string()),
              fmt::format("the weights belong to another model than the description of {}", node.name));
}

void read_permuted(const Tensor& tensor, const Shape& view, std::span<const std::size_t> axes,
                   std::span<float> out) {
  if (std::is_sorted(axes.begin(), axes.end())) return read_floats(tensor, out);
  permute(read_floats(tensor), view, axes, out);
}

// A convolution of one channel a group may be stored as a depthwise one, (H, W, C, 1).
const WeightLayout& as_stored(const WeightLayout& how, const Tensor& tensor, const Shape& needed) {
  const WeightLayout& depthwise = *find_layout("depthwise_conv2d", "weight");
  const bool other = how.layer == "conv2d" && tensor.shape.rank() == 4 &&
                     canonical_shape(tensor.shape, how) != needed &&
                     canonical_shape(tensor.shape, depthwise) == needed;
  return other ? depthwise : how;
}

// A vector of Keras is (H, W, C) of the image (C, H, W): its features are reordered as (H W, C) -> (C, H W).
Piece piece_of(const nn::Node& node, const nn::ParameterSpec& parameter, const Tensor& tensor,
               const WeightLayout& how, const Shape& flattened) {
  const Shape stored = with_rank(tensor.shape, how.rank);
  if (stored.rank() != how.rank || canonical_shape(stored, how) != parameter.shape) {
    misfit(node, parameter.name, tensor, parameter.shape);
  }
  const bool per_feature = node.layer->type() != "dense" || parameter.name == "weight";
  std::vector<std::size_t> axes(how.axes.begin(), how.axes.begin() + static_cast<std::ptrdiff_t>(how.rank));
  Shape view = stored;
  if (flattened.rank() == 3 && per_feature) {
    const std::int64_t pixels = flattened[1] * flattened[2];
    view = how.rank == 2 ? Shape{pixels, flattened[0], stored[1]} : Shape{pixels, flattened[0]};
    axes = how.rank == 2 ? std::vector<std::size_t>{2, 1, 0} : std::vector<std::size_t>{1, 0};
  }
  return {parameter.name,
          [tensor, view, axes](std::span<float> out) { read_permuted(tensor, view, axes, out); }};
}

// The bias of a GRU: row 0 is for the input, row 1 for the state.
std::vector<Piece> gru_bias(const nn::Node& node, const nn::ParameterSpec& bias, const Tensor& tensor) {
  const std::string prefix = bias.name.substr(0, bias.name.size() - std::string_view("bias").size());
  const std::int64_t size = bias.shape[0];
  if (tensor.shape != Shape{2, size}) misfit(node, bias.name, tensor, {2, size});
  std::vector<Piece> pieces;
  for (const std::int64_t row : {0, 1}) {
    pieces.push_back({prefix + (row == 0 ? "bias" : "recurrent_bias"), [tensor, row](std::span<float> out) {
                        const std::vector<float> both = read_floats(tensor);
                        const auto first = both.begin() + row * static_cast<std::ptrdiff_t>(out.size());
                        std::copy_n(first, out.size(), out.begin());
                      }});
  }
  return pieces;
}

}  // namespace

const WeightLayout* find_layout(std::string_view layer, std::string_view parameter) {
  if (parameter.starts_with(kBackward)) parameter.remove_prefix(kBackward.size());
  const auto found = std::ranges::find_if(kLayouts, [&](const WeightLayout& layout) {
    return layout.parameter == parameter && (layout.layer == layer || layout.layer.empty());
  });
  return found == kLayouts.end() ? nullptr : &*found;
}

std::vector<Piece> match_tensors(const nn::Node& node, std::span<const Tensor> tensors,
                                 const Shape& flattened) {
  std::vector<Piece> pieces;
  std::size_t next = 0;
  for (const nn::ParameterSpec& parameter : node.parameters) {
    const WeightLayout* how = find_layout(node.layer->type(), parameter.name);
    if (how == nullptr) continue;
    if (next == tensors.size()) {
      throw Error(fmt::format("the file has {} weights for it, and none for its {}", next, parameter.name),
                  "the weights belong to another model");
    }
    const Tensor& tensor = tensors[next++];
    if (node.layer->type() == "gru" && how->parameter == "bias") {
      for (Piece& piece : gru_bias(node, parameter, tensor)) pieces.push_back(std::move(piece));
    } else {
      const WeightLayout& form = as_stored(*how, tensor, parameter.shape);
      pieces.push_back(piece_of(node, parameter, tensor, form, flattened));
    }
  }
  if (next != tensors.size()) {
    throw Error(fmt::format("the file has {} weights for it, but it needs {}", tensors.size(), next),
                "the weights belong to another model");
  }
  return pieces;
}

}  // namespace convoke::interop::keras

#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/hdf5/file.hpp"
#include "convoke/nn/graph.hpp"
#include "interop/model_builder.hpp"
#include "interop/tensor.hpp"

namespace convoke::interop::keras {

/// A layer on the way from the model to a nested layer.
struct Place {
  std::string name;
  std::string key;  ///< LayerEntry::key
};

/// The weights of a model file, by layer. Returns the tensors of the layer at `path` in Keras' order.
/// `parts`: the objects within the layer that own them, "" for the layer itself: {"forward_layer/cell",
/// "backward_layer/cell"}.
using WeightSource =
    std::function<std::vector<Tensor>(std::span<const Place> path, std::span<const std::string_view> parts)>;

/// The weights in Keras 3's layout: /layers/<key>/vars/0.
WeightSource keras3_weights(std::shared_ptr<const hdf5::File> file);
/// The weights in the layout of Keras 1 and 2: groups named after layers, with the attribute weight_names.
WeightSource legacy_weights(std::shared_ptr<const hdf5::File> file);
/// Weights with names as "block/conv1/kernel", or with their places in Keras 3's layout:
/// "layers/conv1/vars/0".
WeightSource named_weights(std::vector<Tensor> tensors);

/// The tensors of one layer, for a file without a description of the model.
struct StoredLayer {
  std::string name;  ///< empty: not stored
  std::vector<Tensor> tensors;
};
/// Lists all layers with weights of a file in the layout of Keras 3 or of Keras 2, in the file's order.
std::vector<StoredLayer> stored_layers(const std::shared_ptr<const hdf5::File>& file);

/// Where Keras has a parameter of one of our layers, for files that are read and written. Axis i of ours is
/// axis axes[i] of Keras'; the first two are joined for a depthwise weight. The weights of a layer are in our
/// order.
struct WeightLayout {
  std::string_view layer;      ///< empty: of any layer
  std::string_view parameter;  ///< ours
  std::string_view name;       ///< Keras'
  std::size_t rank;
  std::array<std::size_t, 4> axes;
  bool depthwise = false;
};
/// Returns where Keras has a parameter; null if it is no weight of its own, such as a GRU's recurrent bias,
/// which is the second row of its bias (2, 3 U).
const WeightLayout* find_layout(std::string_view layer, std::string_view parameter);

/// A parameter of one of our nodes and how its values are read from Keras' tensors.
struct Piece {
  std::string parameter;
  ModelBuilder::Fill fill;
};
/// Matches the tensors of a layer, in Keras' order, with the parameters of `node`. `flattened`: of a vector
/// that was an image, its shape (C, H, W); Keras flattens it as (H, W, C). Throws Error with the shapes if
/// they do not fit.
std::vector<Piece> match_tensors(const nn::Node& node, std::span<const Tensor> tensors,
                                 const Shape& flattened = {});

}  // namespace convoke::interop::keras

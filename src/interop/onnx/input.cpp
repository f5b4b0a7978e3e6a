#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "interop/onnx/call.hpp"

namespace convoke::interop::onnx {
namespace {

const ValueInfo& only_input(const Source& source, const std::vector<std::size_t>& order) {
  std::set<std::string> read;
  for (const std::size_t index : order) {
    const NodeProto& node = source.nodes()[index];
    read.insert(node.inputs.begin(), node.inputs.end());
    read.insert(node.captured.begin(), node.captured.end());  // by a branch of an If
  }
  std::vector<const ValueInfo*> found;
  std::vector<std::string> names;
  for (const ValueInfo& input : source.model().inputs) {
    if (source.constant(input.name) != nullptr || !read.contains(input.name)) continue;
    found.push_back(&input);
    names.push_back(one_line(input.name));
  }
  if (found.empty()) throw Error("has no input", "Convoke needs a model of one input");
  if (found.size() > 1) {
    throw Error(fmt::format("has {} inputs: {}", found.size(), join(names)),
                "Convoke's networks have one input: export the model with the others as constants");
  }
  return *found.front();
}

/// True if a node for which `wanted` holds reads the value, or what nodes of the operators `through` make of
/// it.
bool leads_to(const Source& source, const std::string& value, std::span<const std::string_view> through,
              const std::function<bool(const NodeProto&, const std::string&)>& wanted) {
  std::vector<std::string> open{value};
  for (std::size_t i = 0; i < open.size() && i < 64; ++i) {
    const std::string now = open[i];
    for (const std::size_t reader : source.consumers(now)) {
      const NodeProto& node = source.nodes()[reader];
      if (wanted(node, now)) return true;
      if (std::find(through.begin(), through.end(), node.op) == through.end()) continue;
      open.insert(open.end(), node.outputs.begin(), node.outputs.end());
    }
  }
  return false;
}

constexpr std::array<std::string_view, 18> kElementwise{"Identity",
                                                        "Cast",
                                                        "Add",
                                                        "Sub",
                                                        "Mul",
                                                        "Div",
                                                        "Clip",
                                                        "Relu",
                                                        "Pad",
                                                        "Tanh",
                                                        "Slice",
                                                        "Dropout",
                                                        "Resize",
                                                        "Gather",
                                                        "Concat",
                                                        "Split",
                                                        "QuantizeLinear",
                                                        "DequantizeLinear"};
constexpr std::array<std::string_view, 6> kIndexing{"Identity", "Cast",      "Squeeze",
                                                    "Reshape",  "Unsqueeze", "Transpose"};

/// True if a node makes images (N, C, H, W) of (N, H, W, C), whose last extent is `channels`; tf2onnx
/// reshapes images of one channel.
bool puts_channels_first(const Source& source, const NodeProto& node, std::int64_t channels) {
  if (node.op == "Reshape" && channels == 1 && node.inputs.size() == 2) {
    const Constant* shape = source.constant(node.inputs[1]);
    return shape != nullptr && shape->is_numbers() && shape->numbers.size() == 4 &&
           shape->numbers[1] == Dim{1} && shape->numbers[3] != Dim{1};
  }
  const Attribute* order = find_attribute(node, "perm");
  return node.op == "Transpose" && order != nullptr &&
         order->integers == std::vector<std::int64_t>{0, 3, 1, 2};
}

/// True if images are (N, H, W, C). Files that Convoke wrote take (N, C, H, W), whatever their first layer
/// is.
bool is_channels_last(const Source& source, const ValueInfo& input) {
  const auto& facts = source.model().metadata;
  if (std::ranges::any_of(facts, [](const auto& fact) { return fact.first == "convoke_version"; }))
    return false;
  const auto is_channels = [](std::int64_t extent) { return extent == 1 || extent == 3 || extent == 4; };
  const std::int64_t channels = input.dims.size() == 4 ? input.dims[3] : 0;
  const bool transposed = leads_to(
      source, input.name, kElementwise,
      [&](const NodeProto& node, const std::string&) { return puts_channels_first(source, node, channels); });
  if (input.dims.size() != 4) return transposed;
  const bool first = is_channels(input.dims[1]), last = is_channels(input.dims[3]);
  return first == last ? transposed : last && transposed;
}

/// Returns the axis of the batch: the second one if a recurrent layer reads (L, N, F).
std::size_t batch_axis(const Source& source, const ValueInfo& input, std::size_t rank) {
  if (rank != 3) return 0;
  if (input.dims.size() == 3 && input.dims[0] > 0 && input.dims[1] < 0) return 1;
  const bool time_first =
      leads_to(source, input.name, std::span(kElementwise).first(2), [](const NodeProto& node, const auto&) {
        return (node.op == "LSTM" || node.op == "GRU") &&
               attribute_of(node, "layout", &Attribute::integer, std::int64_t{0}) == 0;
      });
  return time_first ? 1 : 0;
}

/// Keras gives tokens as float32, too.
bool is_token(const Source& source, const ValueInfo& input) {
  return leads_to(source, input.name, kIndexing, [](const NodeProto& node, const std::string& value) {
    return node.op == "Gather" && node.inputs.size() >= 2 && node.inputs[1] == value;
  });
}

void check_type(const ValueInfo& input) {
  constexpr std::int64_t kUint8 = 2, kInt32 = 6, kInt64 = 7;
  if (is_real(input.type) || input.type == kUint8 || input.type == kInt32 || input.type == kInt64) return;
  throw Error(fmt::format("its input \"{}\" has numbers of ONNX's type {}", one_line(input.name), input.type),
              "Convoke's networks take numbers, or tokens as int32 or int64");
}

}  // namespace

Input choose_input(const Source& source, const std::vector<std::size_t>& order,
                   const ImportOptions& options) {
  const ValueInfo& info = only_input(source, order);
  check_type(info);
  const std::string name = shortened(one_line(info.name), 80);
  const std::size_t given = options.input.rank();
  if (!info.has_shape && given == 0) {
    throw Error(fmt::format("does not say the shape of its input \"{}\"", name),
                "give the shape of one sample: --input C,H,W");
  }
  const std::size_t rank = info.has_shape ? info.dims.size() : given + 1;
  if (rank < 2 || rank > 4) {
    throw Error(fmt::format("its input \"{}\" has {} axes", name, rank),
                "Convoke takes images (N, C, H, W), sequences (N, L, F), vectors (N, F) and tokens (N, L)");
  }
  Input input{.name = info.name, .sample = {}, .roles = std::vector<int>(rank, View::kBatch), .batch = 1};
  input.channels_last = rank == 4 && is_channels_last(source, info);
  const std::size_t batch = batch_axis(source, info, rank);
  input.open_batch = info.has_shape && info.dims[batch] <= 0;
  if (info.has_shape && !input.open_batch) input.batch = info.dims[batch];
  std::vector<std::int64_t> sample;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (axis == batch) continue;
    input.roles[axis] = static_cast<int>(sample.size());
    sample.push_back(info.has_shape ? info.dims[axis] : -1);
  }
  if (input.channels_last) {
    input.roles = {View::kBatch, 1, 2, 0};
    sample = {sample[2], sample[0], sample[1]};
  }
  if (given > 0) {
    if (given != sample.size()) {
      throw Error(fmt::format("its input \"{}\" has {} axes besides the batch, but {} are given", name,
                              sample.size(), options.input.to_string()),
                  "give one number for each axis behind the batch");
    }
    sample = options.input.extents();
  }
  if (std::find(sample.begin(), sample.end(), -1) != sample.end()) {
    std::vector<std::string> known;
    for (const std::int64_t extent : sample) known.push_back(extent < 0 ? "?" : fmt::format("{}", extent));
    throw Error(fmt::format("leaves the size of its input \"{}\" open: ({})", name, join(known)),
                sample.size() == 3 ? "give the size of one image: --input C,H,W"
                                   : "give the shape of one sample: --input L,F or --input L");
  }
  constexpr std::int64_t kMost = 1 << 28;
  const Shape shape(sample);
  if (const auto elements = checked_elements(shape); !elements || *elements < 1 || *elements > kMost) {
    throw Error(fmt::format("its input \"{}\" has the shape {}", name, shape.to_string()),
                "give the shape of one sample: --input C,H,W");
  }
  const bool tokens = is_token(source, info);
  input.sample = nn::ValueSpec(shape, tokens ? nn::ValueType::kToken : nn::ValueType::kReal);
  return input;
}

}  // namespace convoke::interop::onnx

#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

// The messages of an ONNX file (onnx/onnx.proto, IR version 3 and later) as plain structs. Only what the
// import needs is kept; numbers stay where they are in the file's bytes, which must outlive all of this.

namespace convoke::interop::onnx {

struct TensorProto {
  std::string name;
  std::vector<std::int64_t> dims;
  std::int64_t type = 0;                                      ///< TensorProto.DataType
  std::optional<std::span<const std::byte>> raw;              ///< raw_data
  std::vector<std::pair<std::string, std::string>> external;  ///< external_data: location, offset, length
  bool is_external = false;
  std::span<const std::byte> message;  ///< the whole message: float_data, int32_data, ... are read from it
};

struct Attribute {
  std::string name = {};
  float number = 0;                         ///< f
  std::int64_t integer = 0;                 ///< i
  std::string text = {};                    ///< s
  std::vector<float> numbers = {};          ///< floats
  std::vector<std::int64_t> integers = {};  ///< ints
  std::vector<std::string> texts = {};      ///< strings
  std::optional<TensorProto> tensor = {};   ///< t
  std::string refers_to = {};               ///< ref_attr_name: in a function, an attribute of the call
  std::span<const std::byte> graph = {};    ///< g: a branch of If, for parse_graph()
};

struct NodeProto {
  std::string op, domain, name;
  std::vector<std::string> inputs, outputs;  ///< "" stands for an optional one that is left out
  std::vector<Attribute> attributes = {};
  std::vector<std::string> captured = {};  ///< values outside that the branches of an If read
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

/// An input or output of a graph.
struct ValueInfo {
  std::string name;
  std::int64_t type = 0;  ///< TensorProto.DataType; 0 if it is not a tensor
  bool has_shape = false;
  std::vector<std::int64_t> dims;  ///< -1: open
};

struct FunctionProto {
  std::string name, domain;
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> defaults;
  std::vector<NodeProto> nodes;
};

struct ModelProto {
  std::int64_t opset = 0;  ///< of the domain ai.onnx
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<FunctionProto> functions;

  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueInfo> inputs, outputs;
};

/// Reads a model. Throws Error if the bytes are not an ONNX model. `bytes` must outlive the result.
ModelProto parse_model(std::span<const std::byte> bytes);

/// Reads a graph alone, as a model without anything else.
ModelProto parse_graph(std::span<const std::byte> bytes);

/// True if the bytes are the beginning of an ONNX model.
bool begins_model(std::span<const std::byte> bytes);

}  // namespace convoke::interop::onnx

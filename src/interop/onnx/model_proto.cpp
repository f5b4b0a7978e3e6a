#include "interop/onnx/model_proto.hpp"

#include <fmt/format.h>

#include <bit>

#include "convoke/core/error.hpp"
#include "convoke/core/protobuf.hpp"

namespace convoke::interop::onnx {
namespace {

using protobuf::Field;
using protobuf::Message;
using protobuf::Wire;

const std::string kWhat = "is not an ONNX model, or is damaged";
const std::string kHint = "get the file again, and compare its size; or export the model again";

/// Reads a repeated number, packed or not.
void collect_integers(const Message& message, const Field& field, std::vector<std::int64_t>& out) {
  if (field.wire == Wire::kVarint) out.push_back(field.integer());
  if (field.wire != Wire::kBytes) return;
  for (Message list = message.within(field); !list.empty();) {
    out.push_back(static_cast<std::int64_t>(list.varint()));
  }
}

void collect_floats(const Message& message, const Field& field, std::vector<float>& out) {
  if (field.wire == Wire::kFixed32) out.push_back(static_cast<float>(field.number_value()));
  if (field.wire != Wire::kBytes) return;
  if (field.bytes.size() % 4 != 0) message.refuse();
  for (std::size_t at = 0; at < field.bytes.size(); at += 4) {
    out.push_back(static_cast<float>(
        Field{.wire = Wire::kFixed32, .bytes = field.bytes.subspan(at, 4)}.number_value()));
  }
}

std::pair<std::string, std::string> parse_entry(Message message) {
  std::pair<std::string, std::string> entry;
  for (Field field; message.next(field);) {
    if (field.is(1, Wire::kBytes)) entry.first = field.text();
    if (field.is(2, Wire::kBytes)) entry.second = field.text();
  }
  return entry;
}

TensorProto parse_tensor(Message message, std::span<const std::byte> bytes) {
  TensorProto tensor;
  tensor.message = bytes;
  for (Field field; message.next(field);) {
    if (field.number == 1) collect_integers(message, field, tensor.dims);
    if (field.is(2, Wire::kVarint)) tensor.type = field.integer();
    if (field.is(8, Wire::kBytes)) tensor.name = field.text();
    if (field.is(9, Wire::kBytes)) tensor.raw = field.bytes;
    if (field.is(13, Wire::kBytes)) tensor.external.push_back(parse_entry(message.within(field)));
    if (field.is(14, Wire::kVarint)) tensor.is_external = field.value == 1;
  }
  return tensor;
}

Attribute parse_attribute(Message message) {
  Attribute attribute;
  for (Field field; message.next(field);) {
    if (field.is(1, Wire::kBytes)) attribute.name = field.text();
    if (field.is(2, Wire::kFixed32)) attribute.number = static_cast<float>(field.number_value());
    if (field.is(3, Wire::kVarint)) attribute.integer = field.integer();
    if (field.is(4, Wire::kBytes)) attribute.text = field.text();
    if (field.is(5, Wire::kBytes)) attribute.tensor = parse_tensor(message.within(field), field.bytes);
    if (field.is(6, Wire::kBytes)) attribute.graph = field.bytes;
    if (field.number == 7) collect_floats(message, field, attribute.numbers);
    if (field.number == 8) collect_integers(message, field, attribute.integers);
    if (field.is(9, Wire::kBytes)) attribute.texts.emplace_back(field.text());
    if (field.is(21, Wire::kBytes)) attribute.refers_to = field.text();
  }
  return attribute;
}

NodeProto parse_node(Message message) {
  NodeProto node;
  for (Field field; message.next(field);) {
    if (field.is(1, Wire::kBytes)) node.inputs.emplace_back(field.text());
    if (field.is(2, Wire::kBytes)) node.outputs.emplace_back(field.text());
    if (field.is(3, Wire::kBytes)) node.name = field.text();
    if (field.is(4, Wire::kBytes)) node.op = field.text();
    if (field.is(5, Wire::kBytes)) node.attributes.push_back(parse_attribute(message.within(field)));
    if (field.is(7, Wire::kBytes)) node.domain = field.text();
    if (field.is(9, Wire::kBytes)) node.metadata.push_back(parse_entry(message.within(field)));
  }
  if (node.domain == "ai.onnx") node.domain.clear();
  return node;
}

std::int64_t parse_dimension(Message message) {
  std::int64_t value = -1;
  for (Field field; message.next(field);) {
    if (field.is(1, Wire::kVarint) && field.integer() > 0) value = field.integer();
  }
  return value;
}

void parse_tensor_type(Message message, ValueInfo& value) {
  for (Field field; message.next(field);) {
    if (field.is(1, Wire::kVarint)) value.type = field.integer();
    if (!field.is(2, Wire::kBytes)) continue;
    value.has_shape = true;
    Message shape = message.within(field);
    for (Field dim; shape.next(dim);) {
      if (dim.is(1, Wire::kBytes)) value.dims.push_back(parse_dimension(shape.within(dim)));
    }
  }
}

ValueInfo parse_value(Message message) {
  ValueInfo value;
  for (Field field; message.next(field);) {
    if (field.is(1, Wire::kBytes)) value.name = field.text();
    if (!field.is(2, Wire::kBytes)) continue;
    Message type = message.within(field);
    for (Field kind; type.next(kind);) {
      if (kind.is(1, Wire::kBytes)) parse_tensor_type(type.within(kind), value);
    }
  }
  return value;
}

void add_graph(Message message, ModelProto& model) {
  for (Field field; message.next(field);) {
    if (field.is(1, Wire::kBytes)) model.nodes.push_back(parse_node(message.within(field)));
    if (field.is(5, Wire::kBytes))
      model.initializers.push_back(parse_tensor(message.within(field), field.bytes));
    if (field.is(11, Wire::kBytes)) model.inputs.push_back(parse_value(message.within(field)));
    if (field.is(12, Wire::kBytes)) model.outputs.push_back(parse_value(message.within(field)));
    if (field.is(15, Wire::kBytes)) {
      throw Error("has sparse initializers, which Convoke does not read",
                  "store the weights as ordinary tensors");
    }
  }
}

FunctionProto parse_function(Message message) {
  FunctionProto function;
  for (Field field; message.next(field);) {
    if (field.is(1, Wire::kBytes)) function.name = field.text();
    if (field.is(4, Wire::kBytes)) function.inputs.emplace_back(field.text());
    if (field.is(5, Wire::kBytes)) function.outputs.emplace_back(field.text());
    if (field.is(7, Wire::kBytes)) function.nodes.push_back(parse_node(message.within(field)));
    if (field.is(10, Wire::kBytes)) function.domain = field.text();
    if (field.is(11, Wire::kBytes)) function.defaults.push_back(parse_attribute(message.within(field)));
  }
  return function;
}

void parse_opset(Message message, ModelProto& model) {
  std::string domain;
  std::int64_t version = 0;
  for (Field field; message.next(field);) {
    if (field.is(1, Wire::kBytes)) domain = field.text();
    if (field.is(2, Wire::kVarint)) version = field.integer();
  }
  if (domain.empty() || domain == "ai.onnx") model.opset = version;
}

}  // namespace

ModelProto parse_model(std::span<const std::byte> bytes) {
  ModelProto model;
  Message message(bytes, kWhat, kHint);
  bool has_graph = false;
  for (Field field; message.next(field);) {
    if (field.is(8, Wire::kBytes)) parse_opset(message.within(field), model);
    if (field.is(14, Wire::kBytes)) model.metadata.push_back(parse_entry(message.within(field)));
    if (field.is(25, Wire::kBytes)) model.functions.push_back(parse_function(message.within(field)));
    if (!field.is(7, Wire::kBytes)) continue;
    add_graph(message.within(field), model);
    has_graph = true;
  }
  if (!has_graph) throw Error("is an ONNX file without a graph", kHint);
  return model;
}

ModelProto parse_graph(std::span<const std::byte> bytes) {
  ModelProto graph;
  add_graph(Message(bytes, kWhat, kHint), graph);
  return graph;
}

bool begins_model(std::span<const std::byte> bytes) {
  // The first field is ir_version, and a text or the graph follows.
  if (bytes.size() < 4 || bytes[0] != std::byte{0x08}) return false;
  const auto version = std::to_integer<int>(bytes[1]), next = std::to_integer<int>(bytes[2]);
  const int number = next >> 3, wire = next & 7;
  const bool text = (number == 2 || number == 3 || number == 4 || (number >= 6 && number <= 8)) && wire == 2;
  return version >= 1 && version < 0x40 && (text || next == (5 << 3));
}

}  // namespace convoke::interop::onnx

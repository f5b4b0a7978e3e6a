#include "interop/onnx/onnx_graph.hpp"

#include <fmt/format.h>

#include <cassert>

#include "convoke/core/protobuf.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/file.hpp"

namespace convoke::interop::onnx_export {
namespace {

using protobuf::field;

// Opset 17 is the oldest with LayerNormalization: onnxruntime reads it since 1.12 (2022). Later ones change
// the form of operators (the axes of ReduceMean, Resize) and add none that our layers need.
constexpr std::int64_t kOpset = 17;
constexpr std::int64_t kIrVersion = 8;

// AttributeProto
std::string attribute_message(const OnnxAttribute& attribute) {
  std::string message = field(1, attribute.name);
  const auto type = [&](std::int64_t kind) { message += field(20, kind); };
  if (const auto* number = std::get_if<float>(&attribute.value)) {
    message += field(2, *number);
    type(1);
  } else if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) {
    message += field(3, *integer);
    type(2);
  } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    message += field(4, *text);
    type(3);
  } else {
    for (const std::int64_t value : std::get<std::vector<std::int64_t>>(attribute.value))
      message += field(8, value);
    type(7);
  }
  return message;
}

// TensorProto without raw_data
std::string tensor_header(std::string_view name, std::span<const std::int64_t> extents, OnnxType type) {
  std::string message;
  for (const std::int64_t extent : extents) message += field(1, extent);
  return message + field(2, static_cast<std::int64_t>(type)) + field(8, name);
}
constexpr std::uint32_t kRawData = 9;

// ValueInfoProto of a batch of samples
std::string value_info(std::string_view name, OnnxType type, const Shape& sample) {
  std::string shape = field(1, field(2, "batch"));
  for (const std::int64_t extent : sample.extents()) shape += field(1, field(1, extent));
  const std::string tensor = field(1, static_cast<std::int64_t>(type)) + field(2, shape);
  return field(1, name) + field(2, field(1, tensor));
}

}  // namespace

std::string OnnxGraph::unique(const std::string& wanted) {
  std::string own = wanted;
  for (int i = 1; !names_.insert(own).second; ++i) own = fmt::format("{}_{}", wanted, i);
  return own;
}

void OnnxGraph::add_node(std::string_view op, std::string_view name, std::span<const std::string> inputs,
                         std::span<const std::string> outputs, const OnnxAttributes& attributes) {
  std::string message;
  for (const std::string& input : inputs) message += field(1, input);
  for (const std::string& output : outputs) message += field(2, output);
  message += field(3, name) + field(4, op);
  for (const OnnxAttribute& attribute : attributes) message += field(5, attribute_message(attribute));
  nodes_ += field(1, message);
}

std::string OnnxGraph::add_floats(const std::string& wanted, const Shape& shape, MakeValues make) {
  const std::string name = unique(wanted);
  const std::uint64_t bytes = static_cast<std::uint64_t>(shape.elements()) * sizeof(float);
  const std::string header = tensor_header(name, shape.extents(), OnnxType::kFloat);
  initializers_.push_back({header, bytes, std::move(make)});
  return name;
}

std::string OnnxGraph::add_shared_floats(const std::string& wanted, const Shape& shape, MakeValues make) {
  const auto [stored, added] = shared_.try_emplace(wanted);
  if (added) stored->second = add_floats(wanted, shape, std::move(make));
  return stored->second;
}

std::string OnnxGraph::add_integers(const std::string& wanted, const Shape& shape,
                                    std::span<const std::int64_t> values) {
  const std::string name = unique(wanted);
  const auto bytes = std::as_bytes(values);
  const std::string_view raw(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  whole_numbers_ += field(5, tensor_header(name, shape.extents(), OnnxType::kInt64) + field(kRawData, raw));
  return name;
}

void OnnxGraph::add_input(std::string_view name, OnnxType type, const Shape& sample) {
  names_.emplace(name);
  values_ += field(11, value_info(name, type, sample));
}
void OnnxGraph::add_output(std::string_view name, const Shape& sample) {
  names_.emplace(name);
  values_ += field(12, value_info(name, OnnxType::kFloat, sample));
}
void OnnxGraph::add_metadata(std::string_view key, std::string_view value) {
  metadata_ += field(14, field(1, key) + field(2, value));
}

namespace {

// Weights beside the model begin on pages, so that readers can map them. Smaller ones stay in the model.
constexpr std::uint64_t kPageBytes = 4096, kLeastBeside = 1024;
constexpr std::uint64_t kInside = ~std::uint64_t{0};  // the offset of an initializer in the model

// The part of a TensorProto that says that its numbers lie in another file.
std::string place_in(const std::string& file, std::uint64_t offset, std::uint64_t bytes) {
  std::string place;
  const auto entry = [&](std::string_view key, std::string_view value) {
    place += field(13, field(1, key) + field(2, value));
  };
  entry("location", file);
  entry("offset", std::to_string(offset));
  entry("length", std::to_string(bytes));
  return place + field(14, std::int64_t{1});
}

}  // namespace

std::vector<std::filesystem::path> OnnxGraph::write(const std::filesystem::path& file,
                                                    std::string_view graph_name,
                                                    std::uint64_t most_bytes) const {
  std::uint64_t bytes = nodes_.size() + whole_numbers_.size() + values_.size();
  for (const Initializer& initializer : initializers_) bytes += initializer.header.size() + initializer.bytes;
  std::filesystem::path beside = file;
  beside += ".data";
  std::vector<std::string> headers;
  std::vector<std::uint64_t> offsets;
  std::uint64_t end = 0;
  for (const Initializer& initializer : initializers_) {
    const bool inside = bytes <= most_bytes || initializer.bytes < kLeastBeside;
    offsets.push_back(inside ? kInside : (end + kPageBytes - 1) / kPageBytes * kPageBytes);
    if (!inside) end = offsets.back() + initializer.bytes;
    const std::string header =
        initializer.header + (inside
                                  ? protobuf::field_header(kRawData, initializer.bytes)
                                  : place_in(beside.filename().string(), offsets.back(), initializer.bytes));
    headers.push_back(protobuf::field_header(5, header.size() + (inside ? initializer.bytes : 0)) + header);
  }
  if (end == 0) {
    write_model_file(file, graph_name, headers, offsets);
    return {file};
  }
  write_numbers(beside, offsets);
  write_model_file(file, graph_name, headers, offsets);
  return {file, beside};
}

std::vector<float> OnnxGraph::values_of(const Initializer& initializer) {
  std::vector<float> values = initializer.make();
  assert(values.size() * sizeof(float) == initializer.bytes);
  return values;
}

// An export can be repeated, so that it need not wait for the disk.
void OnnxGraph::write_numbers(const std::filesystem::path& file,
                              std::span<const std::uint64_t> offsets) const {
  os::replace_file(
      file,
      [&](const std::filesystem::path& temporary) {
        os::File out(temporary, os::Access::kTruncate);
        for (std::size_t i = 0; i < offsets.size(); ++i) {
          if (offsets[i] == kInside) continue;
          const std::vector<float> values = values_of(initializers_[i]);
          out.write_at(offsets[i], std::as_bytes(std::span(values)));
        }
        out.close();
      },
      os::Durability::kUnsynced);
}

void OnnxGraph::write_model_file(const std::filesystem::path& file, std::string_view graph_name,
                                 std::span<const std::string> headers,
                                 std::span<const std::uint64_t> offsets) const {
  const std::string begin = nodes_ + field(2, graph_name);
  std::uint64_t bytes = begin.size() + whole_numbers_.size() + values_.size();
  for (std::size_t i = 0; i < headers.size(); ++i) {
    bytes += headers[i].size() + (offsets[i] == kInside ? initializers_[i].bytes : 0);
  }
  const std::string opset = field(2, kOpset);
  const auto write_parts = [&](const std::filesystem::path& temporary) {
    os::File out(temporary, os::Access::kTruncate);
    std::uint64_t at = 0;
    const auto append = [&](const auto& numbers) {
      const auto part = std::as_bytes(std::span(numbers));
      out.write_at(at, part);
      at += part.size();
    };
    append(field(1, kIrVersion) + field(2, "convoke") + field(3, CONVOKE_VERSION));
    append(protobuf::field_header(7, bytes));
    append(begin);
    append(whole_numbers_);
    for (std::size_t i = 0; i < headers.size(); ++i) {
      append(headers[i]);
      if (offsets[i] == kInside) append(values_of(initializers_[i]));
    }
    append(values_);
    append(field(8, opset) + metadata_);
    out.close();
  };
  os::replace_file(file, write_parts, os::Durability::kUnsynced);
}

}  // namespace convoke::interop::onnx_export

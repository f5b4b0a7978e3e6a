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

std::string text_field(std::uint32_t number, std::string_view text) { return field(number, text); }

// AttributeProto
std::string attribute_message(const OnnxAttribute& attribute) {
  std::string message = text_field(1, attribute.name);
  const auto type = [&](std::int64_t kind) { message += field(20, kind); };
  if (const auto* number = std::get_if<float>(&attribute.value)) {
    message += field(2, *number);
    type(1);
  } else if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) {
    message += field(3, *integer);
    type(2);
  } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    message += text_field(4, *text);
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
  return message + field(2, static_cast<std::int64_t>(type)) + text_field(8, name);
}
constexpr std::uint32_t kRawData = 9;

// ValueInfoProto of a batch of samples
std::string value_info(std::string_view name, OnnxType type, const Shape& sample) {
  std::string shape = field(1, std::string_view(text_field(2, "batch")));
  for (const std::int64_t extent : sample.extents()) shape += field(1, std::string_view(field(1, extent)));
  const std::string tensor = field(1, static_cast<std::int64_t>(type)) + text_field(2, shape);
  return text_field(1, name) + text_field(2, text_field(1, tensor));
}

// Appends to a file.
class Output {
 public:
  explicit Output(const std::filesystem::path& file) : file_(file, os::Access::kTruncate) {}
  void write(std::span<const std::byte> bytes) {
    file_.write_at(at_, bytes);
    at_ += bytes.size();
  }
  void write(std::string_view bytes) { write(std::as_bytes(std::span(bytes))); }
  void close() { file_.close(); }

 private:
  os::File file_;
  std::uint64_t at_ = 0;
};

}  // namespace

std::string OnnxGraph::unique(const std::string& wanted) {
  std::string own = wanted;
  for (int i = 1; !names_.insert(own).second; ++i) own = fmt::format("{}_{}", wanted, i);
  return own;
}

void OnnxGraph::add_node(std::string_view op, std::string_view name, std::span<const std::string> inputs,
                         std::span<const std::string> outputs, const OnnxAttributes& attributes) {
  std::string message;
  for (const std::string& input : inputs) message += text_field(1, input);
  for (const std::string& output : outputs) message += text_field(2, output);
  message += text_field(3, name) + text_field(4, op);
  for (const OnnxAttribute& attribute : attributes) message += text_field(5, attribute_message(attribute));
  nodes_ += text_field(1, message);
}

std::string OnnxGraph::add_floats(const std::string& name, const Shape& shape, MakeValues make) {
  if (!stored_.insert(name).second) return name;
  const std::uint64_t bytes = static_cast<std::uint64_t>(shape.elements()) * sizeof(float);
  const std::string header = tensor_header(name, shape.extents(), OnnxType::kFloat);
  initializers_.push_back({header, bytes, std::move(make)});
  return name;
}

void OnnxGraph::add_stored(const std::string& name, std::span<const std::int64_t> extents,
                           std::span<const std::int64_t> values) {
  if (!stored_.insert(name).second) return;
  const auto bytes = std::as_bytes(values);
  const std::string_view raw(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  whole_numbers_ += text_field(5, tensor_header(name, extents, OnnxType::kInt64) + text_field(kRawData, raw));
}
std::string OnnxGraph::add_integers(const std::string& name, std::span<const std::int64_t> values) {
  const std::int64_t count = std::ssize(values);
  add_stored(name, {&count, 1}, values);
  return name;
}
std::string OnnxGraph::add_integer(const std::string& name, std::int64_t value) {
  add_stored(name, {}, {&value, 1});
  return name;
}

void OnnxGraph::add_input(std::string_view name, OnnxType type, const Shape& sample) {
  values_ += text_field(11, value_info(name, type, sample));
}
void OnnxGraph::add_output(std::string_view name, const Shape& sample) {
  values_ += text_field(12, value_info(name, OnnxType::kFloat, sample));
}
void OnnxGraph::add_metadata(std::string_view key, std::string_view value) {
  metadata_ += text_field(14, text_field(1, key) + text_field(2, value));
}

namespace {

// Weights beside the model begin on pages, so that readers can map them. Smaller ones stay in the model.
constexpr std::uint64_t kPageBytes = 4096, kLeastBeside = 1024;
constexpr std::uint64_t kInside = ~std::uint64_t{0};  // the offset of an initializer in the model

// The part of a TensorProto that says that its numbers lie in another file.
std::string place_in(const std::string& file, std::uint64_t offset, std::uint64_t bytes) {
  std::string place;
  const auto entry = [&](std::string_view key, std::string_view value) {
    place += text_field(13, text_field(1, key) + text_field(2, value));
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

// An export can be repeated, so that it need not wait for the disk.
void OnnxGraph::write_numbers(const std::filesystem::path& file,
                              std::span<const std::uint64_t> offsets) const {
  os::replace_file(
      file,
      [&](const std::filesystem::path& temporary) {
        os::File out(temporary, os::Access::kTruncate);
        for (std::size_t i = 0; i < offsets.size(); ++i) {
          if (offsets[i] == kInside) continue;
          const std::vector<float> values = initializers_[i].make();
          assert(values.size() * sizeof(float) == initializers_[i].bytes);
          out.write_at(offsets[i], std::as_bytes(std::span(values)));
        }
        out.close();
      },
      os::Durability::kUnsynced);
}

void OnnxGraph::write_model_file(const std::filesystem::path& file, std::string_view graph_name,
                                 std::span<const std::string> headers,
                                 std::span<const std::uint64_t> offsets) const {
  const std::string begin = nodes_ + text_field(2, graph_name);
  std::uint64_t bytes = begin.size() + whole_numbers_.size() + values_.size();
  for (std::size_t i = 0; i < headers.size(); ++i) {
    bytes += headers[i].size() + (offsets[i] == kInside ? initializers_[i].bytes : 0);
  }
  const std::string opset = field(2, kOpset);
  const auto write_parts = [&](const std::filesystem::path& temporary) {
    Output out(temporary);
    out.write(field(1, kIrVersion) + text_field(2, "convoke") + text_field(3, CONVOKE_VERSION));
    out.write(protobuf::field_header(7, bytes));
    out.write(begin);
    out.write(whole_numbers_);
    for (std::size_t i = 0; i < headers.size(); ++i) {
      out.write(headers[i]);
      if (offsets[i] != kInside) continue;
      const std::vector<float> values = initializers_[i].make();
      assert(values.size() * sizeof(float) == initializers_[i].bytes);
      out.write(std::as_bytes(std::span(values)));
    }
    out.write(values_);
    out.write(text_field(8, opset) + metadata_);
    out.close();
  };
  os::replace_file(file, write_parts, os::Durability::kUnsynced);
}

}  // namespace convoke::interop::onnx_export

#include "interop/onnx/constant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "convoke/core/error.hpp"
#include "convoke/core/protobuf.hpp"
#include "convoke/core/text.hpp"

namespace convoke::interop::onnx {

std::string to_string(const std::vector<Dim>& dims) {
  std::vector<std::string> parts;
  for (const Dim dim : dims) {
    if (!dim.batch) {
      parts.push_back(fmt::format("{}", dim.value));
    } else {
      parts.push_back(dim.value == 1 ? "N" : fmt::format("{} N", dim.value));
    }
  }
  return "(" + join(parts) + ")";
}

bool counts_up(std::span<const Dim> numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != Dim{static_cast<std::int64_t>(i)}) return false;
  }
  return true;
}

std::vector<Dim> broadcast(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  std::vector<Dim> wide = a.size() >= b.size() ? a : b;
  const std::vector<Dim>& other = a.size() >= b.size() ? b : a;
  for (std::size_t i = 0; i < other.size(); ++i) {
    Dim& to = wide[wide.size() - other.size() + i];
    if (to == Dim{1}) to = other[i];
    if (other[i] == to || other[i] == Dim{1}) continue;
    throw Error(fmt::format("its inputs {} and {} do not fit each other", to_string(a), to_string(b)),
                to.batch != other[i].batch ? "export the model with a dynamic batch axis" : "");
  }
  return wide;
}

std::vector<Dim> Constant::dims() const { return of_list(shape.extents()).numbers; }

std::vector<float> Constant::floats() const {
  const std::optional<std::int64_t> count = checked_elements(shape);
  if (!count) throw Error(fmt::format("{}: its shape {} is absurd", name, shape.to_string()));
  std::vector<float> values(static_cast<std::size_t>(*count));
  fill(values);
  return values;
}

std::optional<float> Constant::scalar() const {
  if (shape.elements() != 1) return std::nullopt;
  if (is_numbers()) {
    if (numbers[0].batch) return std::nullopt;
    return static_cast<float>(numbers[0].value);
  }
  return floats()[0];
}

std::optional<float> Constant::uniform() const {
  if (shape.elements() < 1) return std::nullopt;
  const std::vector<float> values = floats();
  const bool equal = std::all_of(values.begin(), values.end(), [&](float v) { return v == values[0]; });
  return equal ? std::optional(values[0]) : std::nullopt;
}

Constant Constant::of_floats(Shape shape, std::vector<float> values) {
  Constant constant;
  constant.shape = std::move(shape);
  constant.fill = [kept = std::make_shared<const std::vector<float>>(std::move(values))](
                      std::span<float> out) { std::copy(kept->begin(), kept->end(), out.begin()); };
  return constant;
}

Constant Constant::of_numbers(Shape shape, std::vector<Dim> numbers) {
  Constant constant;
  constant.shape = std::move(shape);
  constant.whole = true;
  constant.fill = [numbers](std::span<float> out) {
    for (std::size_t i = 0; i < numbers.size(); ++i) out[i] = static_cast<float>(numbers[i].value);
  };
  constant.numbers = std::move(numbers);
  return constant;
}

Constant Constant::of_list(const std::vector<std::int64_t>& numbers) {
  std::vector<Dim> dims;
  for (const std::int64_t number : numbers) dims.push_back({number});
  return of_numbers({static_cast<std::int64_t>(numbers.size())}, std::move(dims));
}

Constant Constant::reshaped(Shape to) const {
  if (to.elements() != shape.elements()) {
    throw Error(fmt::format("a constant {} cannot have the shape {}", shape.to_string(), to.to_string()));
  }
  Constant constant = *this;
  constant.shape = std::move(to);
  return constant;
}

Constant Constant::transposed(const std::vector<std::size_t>& axes) const {
  constexpr int kMostTransposes = 16;
  if (transposes == kMostTransposes) throw Error("transposes a constant too often");
  std::vector<std::int64_t> extents;
  for (const std::size_t axis : axes) extents.push_back(shape[axis]);
  Constant constant = *this;
  constant.shape = Shape(extents);
  ++constant.transposes;
  constant.fill = [from = *this, axes](std::span<float> out) {
    permute(from.floats(), from.shape, axes, out);
  };
  if (is_numbers()) {
    // numbers are permuted by their indices, which fp32 holds exactly
    std::vector<float> index(numbers.size()), permuted(numbers.size());
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<float>(i);
    permute(index, shape, axes, permuted);
    for (std::size_t i = 0; i < index.size(); ++i)
      constant.numbers[i] = numbers[static_cast<std::size_t>(permuted[i])];
  }
  return constant;
}

Array Array::of(const Constant& constant) {
  Array array{.shape = constant.shape, .whole = constant.is_numbers()};
  if (array.whole) {
    array.numbers = constant.numbers;
  } else {
    array.floats = constant.floats();
  }
  return array;
}

Constant Array::constant() const {
  return whole ? Constant::of_numbers(shape, numbers) : Constant::of_floats(shape, floats);
}

Array Array::zeros(Shape shape, bool whole) {
  check_size(shape);
  Array array{.shape = std::move(shape), .whole = whole};
  const auto count = static_cast<std::size_t>(array.size());
  whole ? array.numbers.resize(count) : array.floats.resize(count);
  return array;
}

void Array::put(const Array& part, std::size_t axis, std::int64_t first) {
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.rank(); ++i) inner *= static_cast<std::size_t>(shape[i]);
  const std::size_t row = static_cast<std::size_t>(part.shape[axis]) * inner,
                    step = static_cast<std::size_t>(shape[axis]) * inner;
  const auto copy = [&](const auto& from, auto& to) {
    std::size_t place = static_cast<std::size_t>(first) * inner;
    for (std::size_t at = 0; at < from.size(); at += row, place += step)
      std::copy_n(from.data() + at, row, to.data() + place);
  };
  copy(part.numbers, numbers);
  copy(part.floats, floats);
}

Array Array::picked(Shape to, const std::vector<std::size_t>& indices) const {
  Array result{.shape = std::move(to), .whole = whole};
  for (const std::size_t at : indices) {
    if (whole) {
      result.numbers.push_back(numbers[at]);
    } else {
      result.floats.push_back(floats[at]);
    }
  }
  return result;
}

Array Array::as_floats() const {
  if (!whole) return *this;
  Array result{.shape = shape};
  for (const Dim dim : numbers) {
    result.floats.push_back(dim.batch ? std::numeric_limits<float>::quiet_NaN()
                                      : static_cast<float>(dim.value));
  }
  return result;
}

Array Array::as_whole() const {
  if (whole) return *this;
  Array result{.shape = shape, .whole = true};
  constexpr float kMost = 9e18F;
  for (const float value : floats) {
    if (std::isnan(value)) throw Error("rounds a number that depends on the size of the batch");
    result.numbers.push_back({static_cast<std::int64_t>(std::clamp(value, -kMost, kMost))});
  }
  return result;
}

void check_size(const Shape& shape) {
  constexpr std::int64_t kMost = 1 << 24;
  const std::optional<std::int64_t> elements = checked_elements(shape);
  if (!elements || *elements > kMost) {
    throw Error(fmt::format("makes a constant of the shape {}", shape.to_string()));
  }
}

Shape broadcast(const Shape& a, const Shape& b) {
  const std::vector<Dim> first = Constant::of_list(a.extents()).numbers,
                         second = Constant::of_list(b.extents()).numbers;
  std::vector<std::int64_t> extents;
  for (const Dim dim : broadcast(first, second)) extents.push_back(dim.value);
  check_size(Shape(extents));
  return Shape(extents);
}

std::vector<std::size_t> broadcast_indices(const Shape& from, const Shape& to) {
  const std::size_t rank = to.rank();
  std::vector<std::size_t> stride(rank, 0), index(rank, 0);
  std::size_t step = 1;
  for (std::size_t i = from.rank(); i-- > 0;) {
    const std::size_t axis = i + rank - from.rank();
    stride[axis] = from[i] == 1 ? 0 : step;
    step *= static_cast<std::size_t>(from[i]);
  }
  std::vector<std::size_t> indices(static_cast<std::size_t>(to.elements()));
  std::size_t source = 0;
  for (std::size_t& one : indices) {
    one = source;
    for (std::size_t axis = rank; axis-- > 0;) {
      source += stride[axis];
      if (++index[axis] < static_cast<std::size_t>(to[axis])) break;
      source -= index[axis] * stride[axis];
      index[axis] = 0;
    }
  }
  return indices;
}

Shape with_extent(const Shape& shape, std::size_t axis, std::int64_t extent) {
  std::vector<std::int64_t> extents = shape.extents();
  extents[axis] = extent;
  return Shape(extents);
}

Array taken(const Array& from, std::size_t axis, const std::vector<std::int64_t>& indices) {
  std::size_t inner = 1, outer = 1;
  for (std::size_t i = 0; i < from.shape.rank(); ++i) {
    if (i < axis) outer *= static_cast<std::size_t>(from.shape[i]);
    if (i > axis) inner *= static_cast<std::size_t>(from.shape[i]);
  }
  const auto extent = static_cast<std::size_t>(from.shape[axis]);
  const Shape to = with_extent(from.shape, axis, static_cast<std::int64_t>(indices.size()));
  check_size(to);
  std::vector<std::size_t> elements;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::int64_t index : indices) {
      for (std::size_t i = 0; i < inner; ++i)
        elements.push_back((o * extent + static_cast<std::size_t>(index)) * inner + i);
    }
  }
  return from.picked(to, elements);
}

namespace {

/// Appends the lowest `size` bytes of `value`.
void append(std::vector<std::byte>& bytes, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

/// Returns float_data, int32_data, int64_data, double_data or uint64_data as raw_data would hold it.
std::vector<std::byte> typed_data(const TensorProto& proto, NumberType type, const std::string& what) {
  const std::string hint = "export the model again";
  std::vector<std::byte> bytes;
  protobuf::Message message(proto.message, what, hint);
  for (protobuf::Field field; message.next(field);) {
    const bool fixed = field.number == 4 || field.number == 10;  // float_data, double_data
    const bool varints = field.number == 5 || field.number == 7 || field.number == 11;
    if (fixed && field.wire != protobuf::Wire::kVarint) {
      bytes.insert(bytes.end(), field.bytes.begin(), field.bytes.end());
    }
    if (!varints) continue;
    if (field.wire == protobuf::Wire::kVarint) append(bytes, field.value, size_of(type));
    if (field.wire != protobuf::Wire::kBytes) continue;
    for (protobuf::Message list = message.within(field); !list.empty();) {
      append(bytes, list.varint(), size_of(type));
    }
  }
  return bytes;
}

std::uint64_t parse_count(const std::string& text, const std::string& name) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos) {
    throw Error(fmt::format("tensor {}: \"{}\" is not a place in a file", name, one_line(text)));
  }
  return std::stoull(text);
}

/// Returns the file in `folder` with external data. A path that leaves the folder is refused, also by a link.
std::filesystem::path external_file(const std::string& location, const std::string& name,
                                    const std::filesystem::path& folder) {
  const std::filesystem::path path(location);
  const auto refuse = [&](const char* why) {
    throw Error(
        fmt::format("tensor {}: its data are said to be in \"{}\", {}", name, one_line(location), why),
        "put the data file into the folder of the model, and name it in the model without a folder "
        "above it");
  };
  if (location.empty() || location.find('\0') != std::string::npos) refuse("which is not a file name");
  if (path.is_absolute()) refuse("which is an absolute path");
  if (std::find(path.begin(), path.end(), "..") != path.end()) refuse("which leaves the model's folder");
  std::error_code error;
  const std::filesystem::path base = std::filesystem::canonical(folder.empty() ? "." : folder, error);
  const std::filesystem::path file = std::filesystem::canonical(base / path, error);
  if (error) refuse("which does not exist there");
  const auto [end, _] = std::mismatch(base.begin(), base.end(), file.begin(), file.end());
  if (end != base.end()) refuse("which is a link out of the model's folder");
  if (!std::filesystem::is_regular_file(file)) refuse("which is not a file");
  return file;
}

Tensor external_tensor(const TensorProto& proto, Shape shape, NumberType type,
                       const std::filesystem::path& folder) {
  std::string location;
  std::uint64_t offset = 0;
  for (const auto& [key, value] : proto.external) {
    if (key == "location") location = value;
    if (key == "offset") offset = parse_count(value, proto.name);
  }
  const auto file =
      std::make_shared<os::File>(external_file(location, proto.name, folder), os::Access::kRead);
  return tensor_in_file(proto.name, std::move(shape), type, file, offset);
}

Tensor tensor_of(const TensorProto& proto, const std::filesystem::path& folder) {
  const std::optional<NumberType> type = number_type(&NumberTypeFacts::onnx, proto.type);
  if (!type) {
    throw Error(fmt::format("tensor {}: holds numbers of ONNX's type {}, which Convoke does not read",
                            one_line(proto.name), proto.type),
                "export the model in float32");
  }
  constexpr std::size_t kMostAxes = 16;
  if (proto.dims.size() > kMostAxes) {
    throw Error(fmt::format("tensor {}: has {} axes", one_line(proto.name), proto.dims.size()));
  }
  const Shape shape(proto.dims);
  if (proto.is_external) return external_tensor(proto, shape, *type, folder);
  if (proto.raw) return tensor_in_memory(proto.name, shape, *type, *proto.raw);
  const std::string what = fmt::format("tensor {}: is damaged", one_line(proto.name));
  const auto kept = std::make_shared<const std::vector<std::byte>>(typed_data(proto, *type, what));
  Tensor tensor = tensor_in_memory(proto.name, shape, *type, *kept);
  tensor.read = [kept, inner = std::move(tensor.read)](std::uint64_t offset, std::span<std::byte> bytes) {
    inner(offset, bytes);
  };
  return tensor;
}

}  // namespace

Constant make_constant(const TensorProto& proto, const std::filesystem::path& folder) {
  const Tensor tensor = tensor_of(proto, folder);
  Constant constant;
  constant.name = proto.name;
  constant.shape = tensor.shape;
  constant.whole = is_whole(tensor.type);
  constant.converted = tensor.type != NumberType::kFloat32;
  constant.type = proto.type;
  constant.fill = [tensor](std::span<float> values) { interop::read_floats(tensor, values); };
  if (constant.whole && tensor.shape.elements() <= Constant::kMostNumbers) {
    for (const std::int64_t number : interop::read_integers(tensor)) constant.numbers.push_back({number});
  }
  return constant;
}

}  // namespace convoke::interop::onnx

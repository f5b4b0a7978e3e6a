#include "interop/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <type_traits>
#include <utility>

#include "convoke/core/error.hpp"

namespace convoke::interop {
namespace {

// IEEE 754 binary16: sign, 5 bits of exponent (bias 15), 10 bits of fraction.
float from_float16(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1FU, fraction = half & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

float from_bfloat16(std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); }

template <class Stored>
Stored same(Stored value) {
  return value;
}

template <class To, class Stored, auto one = &same<Stored>>
void convert(std::span<const std::byte> bytes, To* out) {
  if constexpr (std::is_same_v<To, Stored>) {
    std::memcpy(out, bytes.data(), bytes.size());
    return;
  }
  for (std::size_t i = 0; i < bytes.size() / sizeof(Stored); ++i) {
    Stored value{};
    std::memcpy(&value, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = static_cast<To>(one(value));
  }
}

/// The functions that convert the numbers of each NumberType, in its order.
template <class To>
constexpr std::array<void (*)(std::span<const std::byte> bytes, To* out), kNumberTypes.size()> kConverters{
    convert<To, float>,
    convert<To, std::uint16_t, from_float16>,
    convert<To, std::uint16_t, from_bfloat16>,
    convert<To, double>,
    convert<To, std::uint8_t>,
    convert<To, std::int8_t>,
    convert<To, std::uint16_t>,
    convert<To, std::int16_t>,
    convert<To, std::int32_t>,
    convert<To, std::uint32_t>,
    convert<To, std::int64_t>,
    convert<To, std::uint64_t>,
    convert<To, std::uint8_t>,
};

constexpr std::uint64_t kPieceBytes = 1U << 18;  // read at a time

template <class To>
void read_numbers(const Tensor& tensor, To* values) {
  const std::uint64_t all = tensor.bytes();
  std::vector<std::byte> piece(std::min(all, kPieceBytes));
  for (std::uint64_t at = 0; at < all; at += piece.size()) {
    piece.resize(std::min(all - at, kPieceBytes));
    tensor.read(at, piece);
    kConverters<To>.at(static_cast<std::size_t>(tensor.type))(piece, values + at / size_of(tensor.type));
  }
}

}  // namespace

std::optional<std::int64_t> checked_elements(const Shape& shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape.extents()) {
    if (extent < 0 || (extent > 0 && elements > kMost / extent)) return std::nullopt;
    elements *= extent;
  }
  return elements;
}

std::uint64_t Tensor::bytes() const {
  const std::optional<std::int64_t> elements = checked_elements(shape);
  if (!elements) {
    throw Error(fmt::format("tensor {}: its shape {} is not the shape of an array", name, shape.to_string()),
                "the file is damaged: export the model again");
  }
  return static_cast<std::uint64_t>(*elements) * size_of(type);
}

Tensor tensor_in_memory(std::string name, Shape shape, NumberType type, std::span<const std::byte> bytes) {
  Tensor tensor{.name = std::move(name), .shape = std::move(shape), .type = type, .read = {}};
  if (tensor.bytes() != bytes.size()) {
    throw Error(fmt::format("tensor {}: has {} bytes, but {} of {} needs {}", tensor.name, bytes.size(),
                            tensor.shape.to_string(), name_of(type), tensor.bytes()),
                "the file is damaged: export the model again");
  }
  tensor.read = [bytes](std::uint64_t offset, std::span<std::byte> out) {
    std::memcpy(out.data(), bytes.data() + offset, out.size());
  };
  return tensor;
}

Tensor tensor_in_file(std::string name, Shape shape, NumberType type, std::shared_ptr<const os::File> file,
                      std::uint64_t offset) {
  Tensor tensor{.name = std::move(name), .shape = std::move(shape), .type = type, .read = {}};
  const std::uint64_t size = file->size();
  if (offset > size || tensor.bytes() > size - offset) {
    throw Error(fmt::format("{}: ends before tensor {} does", file->path().string(), tensor.name),
                "the file is truncated: get it again, and compare its size");
  }
  tensor.read = [file = std::move(file), offset](std::uint64_t at, std::span<std::byte> out) {
    file->read_at(offset + at, out);
  };
  return tensor;
}

void read_floats(const Tensor& tensor, std::span<float> values) {
  assert(values.size() == static_cast<std::size_t>(tensor.shape.elements()));
  read_numbers(tensor, values.data());
}

std::vector<float> read_floats(const Tensor& tensor) {
  std::vector<float> values(tensor.bytes() / size_of(tensor.type));
  read_floats(tensor, values);
  return values;
}

std::vector<std::int64_t> read_integers(const Tensor& tensor) {
  if (!is_whole(tensor.type)) {
    throw Error(fmt::format("tensor {}: holds {}, but whole numbers are expected", tensor.name,
                            name_of(tensor.type)));
  }
  std::vector<std::int64_t> values(tensor.bytes() / size_of(tensor.type));
  read_numbers(tensor, values.data());
  return values;
}

void permute(std::span<const float> values, const Shape& shape, std::span<const std::size_t> axes,
             std::span<float> out) {
  const std::size_t rank = shape.rank();
  assert(axes.size() == rank && out.size() == values.size());
  if (rank == 0 || values.empty()) {
    std::copy(values.begin(), values.end(), out.begin());
    return;
  }
  std::vector<std::size_t> stride(rank, 1);  // of `values`
  for (std::size_t i = rank - 1; i > 0; --i) stride[i - 1] = stride[i] * static_cast<std::size_t>(shape[i]);
  std::vector<std::size_t> extent(rank), step(rank), index(rank, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    extent[i] = static_cast<std::size_t>(shape[axes[i]]);
    step[i] = stride[axes[i]];
  }
  const std::size_t inner = extent[rank - 1], inner_step = step[rank - 1];
  for (std::size_t done = 0, from = 0; done < out.size(); done += inner) {
    for (std::size_t i = 0; i < inner; ++i) out[done + i] = values[from + i * inner_step];
    for (std::size_t axis = rank - 1; axis-- > 0;) {
      from += step[axis];
      if (++index[axis] < extent[axis]) break;
      from -= extent[axis] * step[axis];
      index[axis] = 0;
    }
  }
}

std::vector<float> swap_channels(std::span<const float> values, const Shape& shape, std::int64_t groups) {
  std::vector<float> swapped(values.size());
  permute(values, {groups, shape[0] / groups, shape[1], shape[2] * shape[3]},
          std::array<std::size_t, 4>{0, 2, 1, 3}, swapped);
  return swapped;
}

Shape swapped_channels(const Shape& shape, std::int64_t groups) {
  return {shape[1] * groups, shape[0] / groups, shape[2], shape[3]};
}

}  // namespace convoke::interop

#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "convoke/core/shape.hpp"

namespace convoke::data {

/// What the values of a sample are: pixels, tokens, or measured numbers.
enum class SampleType { kUint8, kInt32, kFloat32 };

/// "uint8", "int32", "float32".
std::string_view name_of(SampleType type);
/// Bytes of one value.
std::size_t size_of(SampleType type);

/// Samples of one type, dense and row-major, as they are stored; a view. In order of SampleType: uint8 images
/// (N, H, W, C); int32 tokens (N, L); float32 features (N, F), sequences (N, L, F) or images (N, H, W, C).
using Samples =
    std::variant<std::span<const std::uint8_t>, std::span<const std::int32_t>, std::span<const float>>;

SampleType type_of(const Samples& samples);
std::size_t values_in(const Samples& samples);
std::span<const std::byte> bytes_of(const Samples& samples);

/// True if there are samples of that type with so many axes (without N).
bool may_have_rank(SampleType type, std::size_t rank);

/// "images", "tokens", "features" or "sequences".
std::string_view kind_of(SampleType type, const Shape& sample_shape);

/// A sample's shape as networks see it, (C, H, W) for images, from the one it is stored in, (H, W, C), and
/// back. Other ranks are the same in both.
Shape seen_shape(const Shape& stored);
Shape stored_shape(const Shape& seen);

/// How many parts of a sample have a mean of their own: the channels of images, the features of (F) and
/// (L, F); both are the last axis of what is stored. None for tokens.
std::int64_t channel_count(SampleType type, const Shape& sample_shape);

}  // namespace convoke::data

#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "convoke/core/shape.hpp"

namespace convoke::data {

/// The type of a sample's values: pixels, tokens, or measured numbers.
enum class SampleType { kUint8, kInt32, kFloat32 };

/// Returns "uint8", "int32" or "float32".
std::string_view name_of(SampleType type);
/// Returns the number of bytes of one value.
std::size_t size_of(SampleType type);

/// A view of samples of one type, dense and row-major, as they are stored. In the order of SampleType: uint8
/// images (N, H, W, C); int32 tokens (N, L); float32 features (N, F), sequences (N, L, F) or images (N, H, W,
/// C).
using Samples =
    std::variant<std::span<const std::uint8_t>, std::span<const std::int32_t>, std::span<const float>>;

SampleType type_of(const Samples& samples);
std::size_t values_in(const Samples& samples);
std::span<const std::byte> bytes_of(const Samples& samples);
/// Views bytes, which must be aligned for `type`, as samples of that type.
Samples samples_in(SampleType type, std::span<const std::byte> bytes);

/// True if samples of that type can have so many axes (without N).
bool may_have_rank(SampleType type, std::size_t rank);

/// Returns "images", "tokens", "features" or "sequences".
std::string_view kind_of(SampleType type, const Shape& sample_shape);

/// Converts a sample's shape from the stored one, (H, W, C) for images, to the one that networks see, (C, H,
/// W), and back. Other ranks do not change.
Shape seen_shape(const Shape& stored);
Shape stored_shape(const Shape& seen);

/// Returns the number of means of a sample: one for each channel of an image, or feature of (F) and (L, F),
/// the last axis as stored. 0 for tokens.
std::int64_t channel_count(SampleType type, const Shape& sample_shape);

}  // namespace convoke::data

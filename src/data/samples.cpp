#include "convoke/data/samples.hpp"

#include <array>

namespace convoke::data {
namespace {

constexpr std::size_t kImageRank = 3;

}  // namespace

std::string_view name_of(SampleType type) {
  constexpr std::array<std::string_view, 3> kNames{"uint8", "int32", "float32"};
  return kNames[static_cast<std::size_t>(type)];
}

std::size_t size_of(SampleType type) { return type == SampleType::kUint8 ? 1 : 4; }

SampleType type_of(const Samples& samples) { return static_cast<SampleType>(samples.index()); }

std::size_t values_in(const Samples& samples) {
  return std::visit([](auto values) { return values.size(); }, samples);
}

std::span<const std::byte> bytes_of(const Samples& samples) {
  return std::visit([](auto values) { return std::as_bytes(values); }, samples);
}

Samples samples_in(SampleType type, std::span<const std::byte> bytes) {
  const auto as = [&]<class T>(T) {
    return Samples(std::span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)));
  };
  if (type == SampleType::kUint8) return as(std::uint8_t{});
  return type == SampleType::kInt32 ? as(std::int32_t{}) : as(float{});
}

bool may_have_rank(SampleType type, std::size_t rank) {
  if (type == SampleType::kUint8) return rank == kImageRank;
  if (type == SampleType::kInt32) return rank == 1;
  return rank >= 1 && rank <= kImageRank;
}

std::string_view kind_of(SampleType type, const Shape& sample_shape) {
  if (type == SampleType::kInt32) return "tokens";
  constexpr std::array<std::string_view, 3> kKinds{"features", "sequences", "images"};
  return kKinds.at(sample_shape.rank() - 1);
}

Shape seen_shape(const Shape& stored) {
  return stored.rank() == kImageRank ? Shape{stored[2], stored[0], stored[1]} : stored;
}

Shape stored_shape(const Shape& seen) {
  return seen.rank() == kImageRank ? Shape{seen[1], seen[2], seen[0]} : seen;
}

std::int64_t channel_count(SampleType type, const Shape& sample_shape) {
  if (type == SampleType::kInt32) return 0;
  return sample_shape.rank() == kImageRank ? sample_shape[0] : sample_shape.extents().back();
}

}  // namespace convoke::data

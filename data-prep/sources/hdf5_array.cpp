#include "sources/hdf5_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"

namespace convoke::data_prep {
namespace {

constexpr std::int64_t kUsualBlock = 1 << 20, kLargestBlock = 64 << 20;

NpyValues none_of(hdf5::ElementType type, const std::string& name) {
  if (type == hdf5::ElementType::kOther) {
    throw Error(fmt::format("{}: does not hold numbers", name),
                "store it as numbers: uint8, int32, float32, ...; MATLAB's tables and objects as arrays");
  }
  // In the order of ElementType.
  const std::array<NpyValues, 5> values{std::vector<std::uint8_t>(), std::vector<std::int32_t>(),
                                        std::vector<std::int64_t>(), std::vector<float>(),
                                        std::vector<double>()};
  return values.at(static_cast<std::size_t>(type));
}

}  // namespace

bool is_matlab(const hdf5::Object& array) { return array.has_attribute("MATLAB_class"); }

Shape shown_shape(const hdf5::ForeignArray& array) {
  std::vector<std::int64_t> extents = array.shape().extents();
  if (is_matlab(array)) std::reverse(extents.begin(), extents.end());
  return Shape(std::move(extents));
}

Hdf5Array::Hdf5Array(hdf5::ForeignArray array, std::size_t sample_axis)
    : SampleArray(array.where()), array_(std::move(array)) {
  block_ = none_ = none_of(array_.readable_type(), name_);
  const std::vector<std::int64_t> stored = array_.shape().extents();
  if (sample_axis >= stored.size()) throw Error(fmt::format("{}: is a single value", name_));
  const auto in_file = [&](std::size_t axis) { return is_matlab(array_) ? stored.size() - 1 - axis : axis; };
  stored_axis_ = in_file(sample_axis);
  std::vector<std::size_t> axes{sample_axis};
  for (std::size_t axis = 0; axis < stored.size(); ++axis) {
    if (axis != sample_axis) axes.push_back(axis);
  }
  std::vector<std::int64_t> extents;
  for (const std::size_t axis : axes) extents.push_back(stored[in_file(axis)]);
  shape_ = Shape(extents);

  // A chunk is read as a whole, so a block has whole chunks. If the samples are not the first axis of a file
  // without chunks, a large block makes few reads.
  const std::size_t value_bytes = std::visit([](const auto& values) { return sizeof(values[0]); }, block_);
  std::int64_t sample_bytes = static_cast<std::int64_t>(value_bytes);
  for (std::size_t i = 1; i < extents.size(); ++i) sample_bytes *= std::max<std::int64_t>(1, extents[i]);
  const std::optional<Shape> chunks = array_.chunk();
  const std::int64_t chunk = chunks              ? std::max<std::int64_t>(1, (*chunks)[stored_axis_])
                             : stored_axis_ == 0 ? 1
                                                 : std::max<std::int64_t>(1, extents[0]);
  const std::int64_t least = std::max<std::int64_t>(1, kUsualBlock / sample_bytes);
  const std::int64_t most = std::max<std::int64_t>(1, kLargestBlock / sample_bytes);
  block_samples_ = std::min(most, (least + chunk - 1) / chunk * chunk);
  block_samples_ = std::max<std::int64_t>(1, std::min(block_samples_, extents[0]));

  // Row-major strides of a block in the file's order of axes.
  std::vector<std::size_t> stride(stored.size(), 1);
  for (std::size_t axis = stored.size() - 1; axis > 0; --axis) {
    const std::int64_t extent = axis == stored_axis_ ? block_samples_ : stored[axis];
    stride[axis - 1] = stride[axis] * static_cast<std::size_t>(extent);
  }
  for (const std::size_t axis : axes) strides_.push_back(stride[in_file(axis)]);
}

// Reads the block that begins with sample `first`. The last block has as many samples as the others, so that
// its strides are the same: it begins earlier.
void Hdf5Array::load(std::int64_t first) {
  block_first_ = std::min(first / block_samples_ * block_samples_, shape_[0] - block_samples_);
  std::visit(
      [&](auto& block) {
        const auto samples = static_cast<std::size_t>(shape_.elements() / shape_[0] * block_samples_);
        block.resize(samples);
        array_.read_slices(stored_axis_, block_first_, std::span(block));
      },
      block_);
  block_count_ = block_samples_;
}

void Hdf5Array::read(std::uint64_t first, NpyValues& values) {
  ensure(values.index() == block_.index(), "values have the array's type");
  if (shape_.elements() == 0) return;
  const std::int64_t of_sample = shape_.elements() / shape_[0];
  std::visit(
      [&]<class T>(std::vector<T>& into) {
        ensure(first + into.size() <= static_cast<std::uint64_t>(shape_.elements()) &&
                   first % static_cast<std::uint64_t>(of_sample) == 0,
               "values are whole samples of the array");
        auto sample = static_cast<std::int64_t>(first) / of_sample;
        for (std::size_t at = 0; at < into.size(); ++sample) {
          if (sample < block_first_ || sample >= block_first_ + block_count_) load(sample);
          const T* const begin = std::get<std::vector<T>>(block_).data() +
                                 static_cast<std::size_t>(sample - block_first_) * strides_[0];
          // Counts through the axes of a sample, the last one fastest.
          std::vector<std::int64_t> index(shape_.rank(), 0);
          for (std::int64_t i = 0; i < of_sample; ++i, ++at) {
            std::size_t place = 0;
            for (std::size_t axis = 1; axis < index.size(); ++axis)
              place += static_cast<std::size_t>(index[axis]) * strides_[axis];
            into[at] = begin[place];
            for (std::size_t axis = index.size(); axis-- > 1;) {
              if (++index[axis] < shape_[axis]) break;
              index[axis] = 0;
            }
          }
        }
      },
      values);
}

}  // namespace convoke::data_prep

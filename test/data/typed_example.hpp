#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "convoke/data/dataset_writer.hpp"
#include "convoke/hdf5/file.hpp"

// Samples of every type, as NumPy makes them:
//   i, v = np.arange(n)[:, None], np.arange(values of a sample)[None, :]
//   numbers = ((5 * i + 3 * v) % 17 / 4 + 1000 * (v % last axis) - 2).astype("<f4")
//   tokens = ((7 * i + v) % 11).astype("<i4")
//   labels = (i % 3).astype("<i4"), weights = (i / 2).astype("<f4")

/// (n, ...) floats; `stored`: the shape of one sample as it is stored.
inline std::vector<float> example_numbers(std::int64_t n, const convoke::Shape& stored) {
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t v = 0; v < stored.elements(); ++v) {
      numbers.push_back(static_cast<float>((5 * i + 3 * v) % 17) / 4 - 2 +
                        1000 * static_cast<float>(v % stored.extents().back()));
    }
  }
  return numbers;
}

inline std::vector<std::int32_t> example_tokens(std::int64_t n, std::int64_t length) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t v = 0; v < length; ++v) tokens.push_back(static_cast<std::int32_t>((7 * i + v) % 11));
  }
  return tokens;
}

inline std::vector<std::int32_t> example_labels(std::int64_t n) {
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < n; ++i) labels.push_back(static_cast<std::int32_t>(i % 3));
  return labels;
}

inline std::vector<float> example_weights(std::int64_t n) {
  std::vector<float> weights;
  for (std::int64_t i = 0; i < n; ++i) weights.push_back(static_cast<float>(i) / 2);
  return weights;
}

inline convoke::data::DatasetInfo typed_info(convoke::data::SampleType type, const convoke::Shape& seen) {
  convoke::data::DatasetInfo info;
  info.sample_shape = seen;
  info.sample_type = type;
  info.classes = 3;
  return info;
}

/// 10 training and 4 test samples with weights; `seen`: the shape of a sample as networks see it.
inline convoke::data::DatasetInfo write_numbers(const std::filesystem::path& file,
                                                const convoke::Shape& seen) {
  const auto info = typed_info(convoke::data::SampleType::kFloat32, seen);
  auto writer = convoke::data::DatasetWriter::create(file, info, {{"train", 10, true}, {"test", 4, true}});
  for (const auto& [split, n] : {std::pair{"train", 10}, std::pair{"test", 4}}) {
    writer.write(split, 0, example_numbers(n, convoke::data::stored_shape(seen)), example_labels(n),
                 example_weights(n));
  }
  return writer.finish();
}

/// 10 training and 4 test samples of 6 tokens, without weights.
inline convoke::data::DatasetInfo write_tokens(const std::filesystem::path& file,
                                               std::int64_t vocabulary = 0) {
  auto info = typed_info(convoke::data::SampleType::kInt32, convoke::Shape{6});
  info.vocabulary = vocabulary;
  auto writer = convoke::data::DatasetWriter::create(file, info, {{"train", 10}, {"test", 4}});
  for (const auto& [split, n] : {std::pair{"train", 10}, std::pair{"test", 4}}) {
    writer.write(split, 0, example_tokens(n, 6), example_labels(n));
  }
  return writer.finish();
}

/// Writes split "train" of a file as another program may do, with the required attributes only; `shape`: that
/// of all samples. Its labels are those of example_labels(), or others.
template <class T>
convoke::hdf5::File foreign(const std::filesystem::path& path, convoke::hdf5::ElementType type,
                            const convoke::Shape& shape, const std::vector<T>& samples, int deflate = 0,
                            const std::vector<std::int32_t>& labels = {}) {
  convoke::hdf5::File file = convoke::hdf5::File::create(path);
  file.set_attribute("convoke_format", "dataset");
  file.set_attribute("format_version", 1);
  file.set_attribute("classes", 3);
  file.create_dataset("train/samples", type, shape, deflate).write(std::span<const T>(samples));
  file.write("train/labels", labels.empty() ? example_labels(shape[0]) : labels);
  return file;
}

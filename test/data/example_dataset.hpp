#pragma once
#include <filesystem>
#include <vector>

#include "convoke/data/dataset_writer.hpp"

/// A dataset of 10 training and 4 test samples, 2 x 3 pixels, C channels, 3 classes. Sample i of a split
/// holds the values 7 i, 7 i + 1, ... modulo 251 and has label i % 3.
struct ExampleSplit {
  std::vector<std::uint8_t> samples;
  std::vector<std::int32_t> labels;
};

inline ExampleSplit example_split(std::int64_t count, std::int64_t channels) {
  ExampleSplit split;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t v = 0; v < 6 * channels; ++v) {
      split.samples.push_back(static_cast<std::uint8_t>((7 * i + v) % 251));
    }
    split.labels.push_back(static_cast<std::int32_t>(i % 3));
  }
  return split;
}

inline convoke::data::DatasetInfo example_info(std::int64_t channels) {
  convoke::data::DatasetInfo info;
  info.sample_shape = convoke::Shape{channels, 2, 3};
  info.classes = 3;
  info.class_names = {"cat", "dog", "emu"};
  info.provenance = "made up";
  return info;
}

inline convoke::data::DatasetInfo write_example(const std::filesystem::path& file,
                                                std::int64_t channels = 1) {
  auto writer =
      convoke::data::DatasetWriter::create(file, example_info(channels), {{"train", 10}, {"test", 4}});
  const ExampleSplit train = example_split(10, channels);
  const ExampleSplit test = example_split(4, channels);
  writer.write("train", 0, train.samples, train.labels);
  writer.write("test", 0, test.samples, test.labels);
  return writer.finish();
}

#pragma once
#include <filesystem>
#include <vector>

#include "convoke/data/dataset_writer.hpp"
#include "support/catch.hpp"

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

/// Writes the samples to one file or to shards, as `splits` says.
inline convoke::data::DatasetInfo write_example(const std::filesystem::path& file,
                                                const convoke::data::DatasetInfo& info,
                                                const std::vector<convoke::data::SplitSize>& splits,
                                                bool overwrite = false) {
  auto writer = convoke::data::DatasetWriter::create(file, info, splits, overwrite);
  for (const convoke::data::SplitSize& split : splits) {
    const ExampleSplit example = example_split(split.samples, info.sample_shape[0]);
    writer.write(split.name, 0, example.samples, example.labels);
  }
  return writer.finish();
}

inline convoke::data::DatasetInfo write_example(const std::filesystem::path& file,
                                                std::int64_t channels = 1) {
  return write_example(file, example_info(channels), {{"train", 10}, {"test", 4}});
}

/// Lets two writers, as of two processes, write the samples with three channels.
inline void write_example_by_two(const std::filesystem::path& file,
                                 const std::vector<convoke::data::SplitSize>& splits) {
  using convoke::data::DatasetWriter;
  auto first = DatasetWriter::create(file, example_info(3), splits);
  const std::vector<std::uint64_t> places = first.places();
  CHECK(places.size() == DatasetWriter::place_count(splits));
  auto second = DatasetWriter::join(file, example_info(3), splits, places);
  const ExampleSplit train = example_split(10, 3), test = example_split(4, 3);
  second.write("test", 0, test.samples, test.labels);
  second.write("train", 7, std::span(train.samples).subspan(7 * 18), std::span(train.labels).subspan(7));
  second.flush();
  first.write("train", 0, std::span(train.samples).first(7 * 18), std::span(train.labels).first(7));
  first.finish();
}

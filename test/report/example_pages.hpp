#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "convoke/core/random.hpp"
#include "convoke/data/dataset_reader.hpp"
#include "convoke/data/dataset_writer.hpp"
#include "convoke/explore/inspection.hpp"
#include "convoke/report/dataset_page.hpp"

// Small datasets of each kind, and their pages.

namespace example {

using namespace convoke;

/// Names that a page must not interpret as HTML, valid UTF-8 and not.
inline const std::vector<std::string> kNames{
    "<b>cat</b>",
    "Stra\xDF"
    "enbahn & \"co\"",
    "a class with a name that is much too long for the axis of a chart", "鳥"};

inline std::uint64_t below(std::uint64_t bound, std::uint64_t sample) {
  return RandomStream({9, Purpose::kBench, 0, sample}).below(bound);
}

/// Samples of a class are similar: value v is around (v + label) % 4. 80 training and 40 test samples; the
/// last class has no test samples, and test sample 0 equals training sample 0.
template <class T>
std::filesystem::path write(const std::filesystem::path& file, data::DatasetInfo info, const Shape& stored,
                            double scale) {
  info.sample_shape = data::seen_shape(stored);
  info.classes = 4;
  info.class_names = kNames;
  auto writer = data::DatasetWriter::create(file, info, {{"train", 80}, {"test", 40}}, true);
  for (const auto& [split, count, offset] : {std::tuple("train", 80, 0), std::tuple("test", 40, 1000)}) {
    std::vector<T> values;
    std::vector<std::int32_t> labels;
    for (int i = 0; i < count; ++i) {
      const int sample = i == 0 ? 0 : offset + i;
      labels.push_back(i % (offset == 0 ? 4 : 3));
      RandomStream random({9, Purpose::kBench, 0, static_cast<std::uint64_t>(sample)});
      for (std::int64_t v = 0; v < stored.elements(); ++v) {
        values.push_back(
            static_cast<T>(scale * (static_cast<double>((v + labels.back()) % 4) + random.uniform())));
      }
    }
    writer.write(split, 0, values, labels);
  }
  writer.finish();
  return file;
}

inline std::filesystem::path images(const std::filesystem::path& folder) {
  return write<std::uint8_t>(folder / "images.h5", {}, Shape{12, 10, 3}, 50);
}
inline std::filesystem::path texts(const std::filesystem::path& folder) {
  data::DatasetInfo info;
  info.sample_type = data::SampleType::kInt32;
  info.vocabulary = 40;
  info.preparation = R"({"kind": "text", "vocabulary": ["", "<unk>")";
  for (int word = 2; word < 40; ++word) info.preparation += ", \"word" + std::to_string(word) + "\"";
  info.preparation += "]}";
  return write<std::int32_t>(folder / "texts.h5", info, Shape{20}, 9.9);
}
inline std::filesystem::path table(const std::filesystem::path& folder) {
  data::DatasetInfo info;
  info.sample_type = data::SampleType::kFloat32;
  return write<float>(folder / "table.h5", info, Shape{6}, 1e4);
}
inline std::filesystem::path signals(const std::filesystem::path& folder) {
  data::DatasetInfo info;
  info.sample_type = data::SampleType::kFloat32;
  return write<float>(folder / "signals.h5", info, Shape{30, 2}, 0.01);
}

inline explore::Inspection inspection(const std::filesystem::path& file) {
  explore::InspectionOptions options;
  options.sheet = 8;
  return explore::inspect(data::DatasetReader(file), options);
}

}  // namespace example

#pragma once
#include "convoke/core/random.hpp"
#include "convoke/data/dataset_writer.hpp"
#include "support/files.hpp"
#include "support/shell.hpp"

// A folder in which the real binary runs, with pictures that train quickly.

/// Writes pictures of `side` x `side` in `classes` classes: a bright row indicates the class, with noise.
struct Pictures {
  std::vector<std::uint8_t> samples;
  std::vector<std::int32_t> labels;

  Pictures(std::int64_t count, std::int64_t side, std::int64_t classes, std::uint64_t seed) {
    for (std::int64_t i = 0; i < count; ++i) {
      convoke::RandomStream random({seed, convoke::Purpose::kBench, 0, static_cast<std::uint64_t>(i)});
      labels.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes))));
      for (std::int64_t pixel = 0; pixel < side * side; ++pixel) {
        const bool bright = pixel / side == labels.back() + 1;
        samples.push_back(static_cast<std::uint8_t>(random.below(100) + (bright ? 120 : 0)));
      }
    }
  }
};

inline void write_dataset(const fs::path& file, std::int64_t train, std::int64_t side = 8,
                          std::int64_t classes = 4, std::int64_t test = 60,
                          const std::vector<std::string>& class_names = {}) {
  convoke::data::DatasetInfo info;
  info.class_names = class_names;
  info.sample_shape = convoke::Shape{1, side, side};
  info.classes = classes;
  info.provenance = "made by a test";
  auto writer = convoke::data::DatasetWriter::create(file, info, {{"train", train}, {"test", test}});
  const Pictures training(train, side, classes, 1);
  writer.write("train", 0, training.samples, training.labels);
  const Pictures testing(test, side, classes, 2);
  writer.write("test", 0, testing.samples, testing.labels);
  writer.finish();
}

/// Returns the bytes of a BMP of `side` x `side` gray pixels: rows from bottom to top, each value three
/// times.
inline std::string gray_bmp(std::span<const std::uint8_t> pixels, std::size_t side) {
  std::string bytes = "BM";
  const auto put = [&](std::size_t value, int size) {
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i & 0xFF);
  };
  const std::size_t padding = (4 - 3 * side % 4) % 4;
  put(54 + side * (3 * side + padding), 4), put(0, 4),
      put(54, 4);  // file: size, reserved, where the pixels are
  put(40, 4), put(side, 4), put(side, 4), put(1, 2),
      put(24, 2);  // header: its size, width and height, planes, bits
  for (int i = 0; i < 6; ++i) put(0, 4);
  for (std::size_t row = side; row-- > 0;) {
    for (std::size_t x = 0; x < side; ++x) bytes.append(3, static_cast<char>(pixels[row * side + x]));
    bytes.append(padding, '\0');
  }
  return bytes;
}

/// Writes a program of the shell.
inline void write_script(const fs::path& file, const std::string& lines) {
  write_file(file, "#!/bin/sh\n" + lines);
  fs::permissions(file, fs::perms::owner_all);
}

/// A folder in which commands run.
struct Files {
  TemporaryFolder folder;

  fs::path operator/(const std::string& name) const { return folder / name; }

  Outcome run(const std::string& arguments, const std::string& before = "") const {
    return shell("cd " + folder.path().string() + " && " + before + " " + binary() + " " + arguments);
  }
  /// On so many ranks; one rank runs without mpirun.
  Outcome run(const std::string& arguments, int ranks) const {
    return run(arguments, ranks == 1 ? "" : mpirun(ranks));
  }
  /// Replaces text of a file, which is written as `other` if that is given.
  void replace(const std::string& file, const std::string& from, const std::string& to,
               const std::string& other = "") const {
    std::string text = bytes_of(folder / file);
    REQUIRE(contains(text, from));
    write_file(folder / (other.empty() ? file : other), text.replace(text.find(from), from.size(), to));
  }
};

/// A folder with a dataset and a recipe.
struct Place : Files {
  explicit Place(std::int64_t train = 150) {
    write_dataset(folder / "data.h5", train);
    write_file(folder / "recipe.toml", R"(name = "tiny"
seed = 3
[data]
path = "data.h5"
validation_split = 0.2
[model]
input = [1, 8, 8]
layers = [
  { layer = "conv2d", filters = 8, kernel = 3 },
  { layer = "batch_norm" },
  { layer = "relu" },
  { layer = "max_pool", size = 2 },
  { layer = "flatten" },
  { layer = "dropout", rate = 0.2 },
  { layer = "dense", units = 4, activation = "softmax" },
]
[train]
epochs = 3
batch = 32
micro_batch = 8
reduction = "exact"
optimizer = { name = "adam", learning_rate = 0.01 }
[run]
threads = 1
)");
  }

  /// Runs one shell command on rank 0 and another on rank 1. (mpirun's "A : B" crashes in Open MPI 5.0.7.)
  Outcome run_by_rank(const std::string& of_rank_0, const std::string& of_rank_1) const {
    write_file(folder / "by_rank.sh", "if [ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 0 ]; then\n" +
                                          of_rank_0 + "\nelse\n" + of_rank_1 + "\nfi\n");
    return shell("cd " + folder.path().string() + " && timeout 60 " + mpirun(2) + " sh by_rank.sh");
  }
  Outcome train(const std::string& output, const std::string& more = "", int ranks = 1) const {
    return run("train recipe.toml --quiet --output " + output + " " + more, ranks);
  }
};

/// Three members instead of one model.
inline constexpr const char* kEnsemble = "--set train.mode=ensemble --set ensemble.members=3";

/// Returns the output of the run and of `commands`, which start once the run has made a step; $pid is the
/// run.
inline Outcome during_a_run(const Place& place, const std::string& options, const std::string& commands) {
  return shell("cd " + place.folder.path().string() + " && { " + binary() +
               " train recipe.toml --quiet --output run " + options +
               " & pid=$!; until [ -s run/metrics.jsonl ]; do sleep 0.05; done; " + commands + "; }");
}

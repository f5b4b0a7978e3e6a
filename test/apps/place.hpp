#pragma once
#include "../data_prep/idx_files.hpp"
#include "convoke/core/csv.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/random.hpp"
#include "convoke/data/dataset_writer.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/pictures/encode.hpp"
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
                          const std::vector<std::string>& class_names = {},
                          const std::string& preparation = {}) {
  convoke::data::DatasetInfo info;
  info.preparation = preparation;
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

/// Writes the same pictures, with 60 of the test, as the four files of MNIST.
inline void write_idx_files(const fs::path& folder, std::int64_t train, std::int64_t side = 8,
                            std::int64_t classes = 4) {
  for (const bool test : {false, true}) {
    const std::int64_t count = test ? 60 : train;
    const Pictures pictures(count, side, classes, test ? 2 : 1);
    const std::string name = test ? "t10k" : "train";
    write_file(folder / (name + "-images-idx3-ubyte"),
               idx_bytes(0x803, {count, side, side}, pictures.samples));
    write_file(folder / (name + "-labels-idx1-ubyte"),
               idx_bytes(0x801, {count}, {pictures.labels.begin(), pictures.labels.end()}));
  }
}

/// Returns the bytes of a PNG of `side` x `side` gray pixels.
inline std::string gray_png(std::span<const std::uint8_t> pixels, std::int64_t side) {
  const std::vector<std::uint8_t> png = convoke::pictures::encode_png(pixels, {side, side});
  return {png.begin(), png.end()};
}

/// Returns a recipe for one thread from the lines of its tables.
inline std::string recipe_of(const std::string& name, const std::string& data, const std::string& model,
                             const std::string& train) {
  return fmt::format("name = \"{}\"\n[data]\n{}\n[model]\n{}\n[train]\n{}\n[run]\nthreads = 1\n", name, data,
                     model, train);
}

/// Returns the cells of all rows of a CSV, the first of which is the header.
inline std::vector<std::vector<std::string>> rows_of(const fs::path& csv) {
  convoke::CsvReader reader(csv);
  std::vector<std::vector<std::string>> rows;
  for (convoke::CsvRow row; reader.next(row);) rows.push_back(row.cells);
  return rows;
}

/// Returns a number of a run's summary, such as "test.accuracy"; NaN if it has none.
inline double summary_number(const fs::path& run, std::string_view path) {
  return convoke::number_at(convoke::metrics::read_json(run / "summary.json").value(), path);
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

  Outcome commands(const std::string& of_shell) const {
    return shell("cd " + folder.path().string() + " && " + of_shell);
  }
  Outcome run(const std::string& arguments, const std::string& before = "") const {
    return commands(before + " " + binary() + " " + arguments);
  }
  /// On so many ranks; one rank runs without mpirun.
  Outcome run(const std::string& arguments, int ranks) const {
    return run(arguments, ranks == 1 ? "" : mpirun(ranks));
  }
  /// A command that ends with one error, which gives the reason.
  void refuses(const std::string& arguments, const std::string& reason) const {
    const Outcome outcome = run(arguments);
    CAPTURE(arguments, outcome.text);
    CHECK(outcome.code != 0);
    CHECK(outcome.times("error:") == 1);
    CHECK(outcome.says(reason));
  }
  /// Replaces text of a file, which is written as `other` if that is given.
  void replace(const std::string& file, const std::string& from, const std::string& to,
               const std::string& other = "") const {
    write_file(folder / (other.empty() ? file : other), replaced_once(bytes_of(folder / file), from, to));
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
    return commands("timeout 60 " + mpirun(2) + " sh by_rank.sh");
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
  return place.commands("{ " + binary() + " train recipe.toml --quiet --output run " + options +
                        " & pid=$!; until [ -s run/metrics.jsonl ]; do sleep 0.05; done; " + commands +
                        "; }");
}

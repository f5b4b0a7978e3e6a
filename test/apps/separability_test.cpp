// Synthetic data sets must not be solved by a linear model, but by a small network. Both are recipes.
#include "apps/place.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/pattern.hpp"
#include "support/shell.hpp"

namespace {

struct Case {
  const char* kind;
  const char* synthesize;  ///< options
  const char* source;      ///< source for prepare, below the folder
  const char* prepare;     ///< options
  const char* data;        ///< keys of [data]
  const char* input;
  const char* linear;  ///< layers
  const char* network;
  const char* training;
  const char* network_epochs;  ///< enough for the network; the linear model has those of `training`
  double linear_at_most, network_at_least;
};

constexpr const char* kLogistic =
    R"({ layer = "flatten" }, { layer = "dense", units = CLASSES, activation = "softmax" })";
constexpr const char* kConvolutions = R"(
  { layer = "conv2d", filters = 16, kernel = 3, padding = "same" }, { layer = "batch_norm", momentum = 0.9 },
  { layer = "relu" }, { layer = "max_pool" },
  { layer = "conv2d", filters = 32, kernel = 3, padding = "same" }, { layer = "batch_norm", momentum = 0.9 },
  { layer = "relu" }, { layer = "max_pool" },
  { layer = "conv2d", filters = 64, kernel = 3, padding = "same" }, { layer = "batch_norm", momentum = 0.9 },
  { layer = "relu" }, { layer = "max_pool" },
  { layer = "global_average_pool" }, { layer = "dense", units = CLASSES, activation = "softmax" })";
constexpr const char* kWithPictures = R"(batch = 32
micro_batch = 32
optimizer = { name = "adam", learning_rate = RATE }
schedule = { name = "cosine" }
epochs = )";

// Returns the accuracy on the test samples.
double trained(const fs::path& folder, const Case& work, const std::string& name, const std::string& layers,
               const std::string& rate, const std::string& more = "") {
  write_file(
      folder / (name + ".toml"),
      fmt::format(
          "name = \"{}\"\n[data]\npath = \"data.h5\"\n{}\n[model]\ninput = {}\nlayers = [{}]\n[train]\n{}\n"
          "[run]\nthreads = 1\ncheckpoint_every = 0\n",
          name, work.data, work.input, layers, substituted(work.training, "RATE", rate)));
  shell(fmt::format("cd {} && {} train {}.toml --quiet --output {} {}", folder.string(), binary(), name, name,
                    more))
      .ends(0)
      .shows("These samples are synthetic");
  CHECK_THAT(bytes_of(folder / name / "summary.json"), Contains("\"provenance\": \"synthetic, made by"));
  return summary_number(folder / name, "test.accuracy");
}

void compare(const Case& work, const std::string& classes) {
  const TemporaryFolder folder;
  shell(fmt::format(
            "cd {0} && {1} synthesize {2} --output made {3} && {1} prepare made{4} --output data.h5 {5}",
            folder.path().string(), binary(), work.kind, work.synthesize, work.source, work.prepare))
      .ends(0);
  const double linear =
      trained(folder.path(), work, "linear", substituted(work.linear, "CLASSES", classes), "3e-4");
  const double network =
      trained(folder.path(), work, "network", substituted(work.network, "CLASSES", classes), "3e-3",
              std::string("--set train.epochs=") + work.network_epochs);
  fmt::print("{:<12} test accuracy: linear {:.3f}, small network {:.3f}\n", work.kind, linear, network);
  CHECK(linear <= work.linear_at_most);
  CHECK(network >= work.network_at_least);
}

}  // namespace

TEST_CASE("shapes: solved by a small network, not by a linear model", "[slow]") {
  const std::string training = std::string(kWithPictures) + "10";
  compare({"shapes", "--samples 1600 --classes 8 --difficulty 0.2 --size 32x32", "", "--allow-duplicates", "",
           "[3, 32, 32]", kLogistic, kConvolutions, training.c_str(), "8", 0.50, 0.85},
          "8");
}

TEST_CASE("reviews: solved by a small convolution over words, not by a weight for each word", "[slow]") {
  compare({"reviews", "--samples 4000 --difficulty 0.3", "",
           "--length 120 --vocabulary 300 --allow-duplicates", "", "[120]",
           R"({ layer = "embedding", vocabulary = 300, units = 2 }, { layer = "global_average_pool1d" },
  { layer = "softmax" })",
           R"({ layer = "embedding", vocabulary = 300, units = 24 },
  { layer = "conv1d", filters = 48, kernel = 5, padding = "same", activation = "relu" },
  { layer = "global_average_pool1d" }, { layer = "dense", units = 2, activation = "softmax" })",
           "batch = 32\nepochs = 12\noptimizer = { name = \"adam\", learning_rate = 3e-3 }", "4", 0.58, 0.85},
          "2");
}

TEST_CASE("I/O patterns: solved by the thesis's 78 parameters, not by a linear model", "[slow]") {
  compare(
      {"io-patterns", "--samples 6000", "/synthetic-io-patterns.csv",
       "--scale yeo-johnson --split train=0.7,test=0.3 --allow-duplicates", "", "[5]",
       R"({ layer = "dense", units = 3, activation = "softmax" })",
       R"({ layer = "dense", units = 5, activation = "relu" }, { layer = "dense", units = 5, activation = "relu" },
  { layer = "dense", units = 3, activation = "softmax" })",
       "batch = 32\nepochs = 40\noptimizer = { name = \"adam\", learning_rate = 5e-3 }", "20", 0.88, 0.95},
      "3");
}

// A job that cannot be trained ends on every rank, before the first step if that is known then, with one
// message that says what to do.
#include <cmath>

#include "apps/place.hpp"
#include "convoke/data_prep/files/npy.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"

namespace {

/// Texts of four tokens in two classes: the class is whether a token below `vocabulary` / 2 comes first. The
/// test split has one text with the token `odd_one`.
void write_tokens(const fs::path& file, std::int32_t vocabulary, std::int32_t odd_one,
                  std::int64_t told = 0) {
  convoke::data::DatasetInfo info;
  info.sample_type = convoke::data::SampleType::kInt32;
  info.sample_shape = convoke::Shape{4};
  info.classes = 2;
  info.vocabulary = told;
  auto writer = convoke::data::DatasetWriter::create(file, info, {{"train", 40}, {"test", 20}});
  for (const auto& [split, count] : {std::pair("train", 40), std::pair("test", 20)}) {
    std::vector<std::int32_t> tokens, labels;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); ++i) {
      convoke::RandomStream random({1, convoke::Purpose::kBench, 0, i});
      for (int place = 0; place < 4; ++place) {
        tokens.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(vocabulary))));
      }
      labels.push_back(tokens[tokens.size() - 4] < vocabulary / 2 ? 0 : 1);
    }
    if (count == 20) tokens[50] = odd_one;
    writer.write(split, 0, tokens, labels);
  }
  writer.finish();
}

/// A place with a recipe for texts of tokens 0..9.
struct Texts {
  Place place;
  Texts() {
    write_file(place / "texts.toml", recipe_of("texts", "path = \"texts.h5\"", R"(input = [4]
layers = [
  { layer = "embedding", vocabulary = 10, units = 4 },
  { layer = "flatten" },
  { layer = "dense", units = 2, activation = "softmax" },
])",
                                               "batch = 8\nmicro_batch = 4"));
  }
  Outcome train(const std::string& data, int ranks) const {
    return place.run("train texts.toml --quiet --output run --set data.path=" + data, mpirun(ranks));
  }
};

}  // namespace

TEST_CASE("tokens beyond the vocabulary are refused before the first step, with split and token") {
  const Texts texts;
  write_tokens(texts.place / "good.h5", 10, 9);
  write_tokens(texts.place / "train.h5", 13, 0);
  write_tokens(texts.place / "test.h5", 10, 17);
  write_tokens(texts.place / "told.h5", 10, 17, 20);
  texts.train("train.h5", 3)
      .fails("train.h5: split \"train\" has token 12, but the embedding of texts has rows 0..9")
      .shows("hint: set its vocabulary to 13 or more");
  texts.train("test.h5", 3)
      .fails("test.h5: split \"test\" has token 17, but the embedding of texts has rows 0..9");
  texts.train("told.h5", 3)
      .fails("told.h5: split \"test\" has token 17")
      .shows("hint: set its vocabulary to 20 or more");
  CHECK_FALSE(fs::exists(texts.place / "run"));

  texts.train("good.h5", 2).ends(0);
  texts.place.run("evaluate run --data test.h5", mpirun(2))
      .fails("test.h5: split \"test\" has token 17, but the embedding of run/model.h5 has rows 0..9");
  CHECK(texts.place.run("evaluate run --data test.h5 --split train").code == 0);
  texts.place.run("predict run test.h5", mpirun(2))
      .fails("test.h5: split \"test\" has token 17, but the embedding of the model has rows 0..9");
  CHECK(texts.place.run("predict run good.h5").code == 0);
  for (const float odd : {1.6F, 10.0F, -1.0F, std::nanf("")}) {
    convoke::data_prep::write_npy(texts.place / "odd.npy", {2, 4},
                                  std::vector<float>{0, 1, 2, 9, 3, odd, 4, 5});
    texts.place.run("predict run odd.npy")
        .fails(fmt::format("odd.npy: sample 1 has the value {}, but the model takes tokens 0..9", odd));
  }
}

TEST_CASE(
    "a batch norm of one sample is refused before the first step, with the node and valid micro-batches") {
  const Place place;
  place.replace("recipe.toml", R"({ layer = "max_pool", size = 2 },)", R"({ layer = "global_average_pool" },
  { layer = "batch_norm", name = "after" },)");
  const std::string odd = "--set data.validation_split=0.14 --set train.micro_batch=16";  // 129 = 8 * 16 + 1
  place.train("run", "--set train.micro_batch=1", 3)
      .fails(
          "node after has one value per channel in a sample, (8), so its variance is undefined: a "
          "micro-batch is one sample");
  place.train("run", odd, 3)
      .fails("the last micro-batch of an epoch is one sample: 129 training samples in micro-batches of 16")
      .shows("hint: choose another train.batch");
  CHECK_FALSE(fs::exists(place / "run"));
  place.train("frozen", odd + " --set 'model.freeze=[\"after\"]'", 2).ends(0);
}

TEST_CASE("a network too large for the memory is refused before the first step, with settings that fit") {
  const Place place;
  const std::string wide = "--set train.batch=4096 --set train.micro_batch=4096 --set run.memory_mib=";
  // All 150 samples of a step in one micro-batch: the plan for 4,096 samples would be larger.
  const Outcome refused = place.train("run", wide + "1", 2).ends(1);
  refused.once("tiny does not fit into memory: ").shows("left; the rank that needs most:");
  for (const char* part : {"parameters", "gradients", "optimizer state", "activations", "evaluation",
                           "program and data so far"}) {
    CAPTURE(part);
    refused.once(std::string("\n  ") + part);
  }
  refused.shows("but 0 B of run.memory_mib = 1 are left");
  refused.shows("hint: raise run.memory_mib, or use a smaller network or input");
  CHECK_FALSE(fs::exists(place / "run"));
  CHECK(place.train("run", "--set run.memory_mib=100000", 2).code == 0);
  place.run("summary data.h5")
      .ends(1)
      .shows("holds a dataset, not a model\n  hint: pass a model file, a run or");
}

TEST_CASE("a run takes the predicted memory, and settings that the hint names fit") {
  const Place place;
  place.replace("recipe.toml", "filters = 8", "filters = 4096");
  const std::string one_micro_batch = "--set train.epochs=1 --set train.micro_batch=32 ";

  REQUIRE(place.train("run", one_micro_batch).code == 0);
  const double predicted = summary_number(place / "run", "predicted_rss_mib");
  CHECK(predicted == Approx(summary_number(place / "run", "peak_rss_mib")).epsilon(0.1));

  const Outcome refused = place.train("none", one_micro_batch + "--set run.memory_mib=1");
  const double so_far = number_in(refused.text, "program and data so far +([0-9.]+) MiB");
  REQUIRE(so_far > 0);
  REQUIRE(so_far < predicted - 60);
  const std::string half =
      "--set run.memory_mib=" + std::to_string(static_cast<int>((so_far + predicted) / 2)) + " ";
  const Outcome too_large = place.train("none", one_micro_batch + half, 1).ends(1);
  const int micro_batch = static_cast<int>(
      number_in(too_large.text, "hint: each of these alone would fit.*train.micro_batch = ([0-9]+)"));
  CHECK(micro_batch >= 1);
  CHECK(place.train("fits", one_micro_batch + half + "--set train.micro_batch=" + std::to_string(micro_batch))
            .code == 0);
  CHECK(summary_number(place / "fits", "peak_rss_mib") <= (so_far + predicted) / 2 * 1.1);
}

TEST_CASE("the error for a loss that is not finite names layer and step, once, and ends all ranks") {
  const Place place;
  const Outcome outcome = place.train("run", "--set train.optimizer.learning_rate=1e30", 3).ends(1);
  CAPTURE(outcome.text);
  outcome.once("error: the loss is not finite");
  CHECK(
      !first_match(outcome.text, "not finite at epoch 1, step [0-9]+: first in \\w+ on rank [0-9]").empty());
  CHECK(outcome.says("hint: "));
}

TEST_CASE("a dataset that does not fit the model is refused, naming both") {
  const Place place;
  write_dataset(place / "large.h5", 60, 12);
  write_dataset(place / "five.h5", 60, 8, 5);
  place.train("run", "--set data.path=large.h5", 2)
      .fails("large.h5 has samples of shape (1, 12, 12), but the model of tiny takes (1, 8, 8)");
  const Outcome classes = place.train("run", "--set data.path=five.h5", 2).ends(1);
  classes.once("five.h5 has 5 classes, but the model of tiny predicts 4");
  place.train("run", "--set data.test_split=tests", 2)
      .fails("has no split \"tests\" (did you mean \"test\"?)");
  CHECK_FALSE(fs::exists(place / "run"));

  REQUIRE(place.train("run").code == 0);
  place.run("evaluate run --data five.h5", mpirun(2))
      .fails("five.h5 has 5 classes, but the model of run/model.h5 predicts 4");
}

TEST_CASE("the jobs of a sweep get the memory of its largest variant; options without effect are refused") {
  const Place place;
  place.replace("recipe.toml", "filters = 8", "filters = 4096");
  const std::string one = " recipe.toml --dry-run --nodes 1 --ranks-per-node 1 --cpus-per-rank 1 ";
  const auto memory = [&](const std::string& options) {
    const Outcome outcome = place.run("slurm train" + one + "--set train.batch=256 " + options).ends(0);
    return first_match(outcome.text, "--mem=([0-9]+)M").at(1);
  };
  const std::string most = memory("--set train.micro_batch=256");
  CHECK(memory("--set train.micro_batch=8") != most);
  CHECK(memory("--sweep train.micro_batch=8,256,16") == most);
  for (const char* twice : {"--sweep seed=1,2 --sweep seed=3,4", "--sweep seed=1,2 --set seed=3"})
    place.refuses("slurm train" + one + twice, "the key has a value already");
  place.refuses("slurm train" + one + "--sweep seed=1,2,1", "--sweep seed=1,2,1: a value is named twice");
  place.refuses(
      "slurm train recipe.toml --nodes 1 --ranks-per-node 2 --cpus-per-rank 1 --sweep train.batch=64,8",
      "2 ranks are more than tiny can use");

  for (const char* options : {"study", "ensemble", "train --chain"}) {
    place.refuses("slurm " + std::string(options) + one + "--sweep seed=1,2", "--sweep trains variants");
  }
  place.refuses("slurm train" + one + "--source pictures", "--source needs --chain");
  for (const char* program : {"'apptainer exec \"my'", "'a;touch HACK'"})
    place.refuses("slurm train" + one + "--program " + program, "not words of a shell");
  place.refuses("slurm train" + one + "--set run.threads=3",
                "run.threads = 3 needs more than --cpus-per-rank 1");
  for (const char* kind : {"train", "prepare --source pictures"})
    place.refuses("slurm " + std::string(kind) + one + "--at-once 2", "--at-once limits a job array");
  for (const char* kind : {"study", "prepare --source pictures"})
    place.refuses("slurm " + std::string(kind) + one + "--chain", "--chain adds no job");
  for (const char* jobs : {"87,88", "prepare", "87:"}) {
    place.refuses("slurm train" + one + "--after " + jobs, "not the number of a job");
  }
  place.run("slurm train" + one + "--after 87:88_1").ends(0).shows("--dependency=\"afterok:87:88_1\"");
}

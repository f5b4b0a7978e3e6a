#include "convoke/recipe/recipe.hpp"

#include "convoke/core/error.hpp"
#include "message.hpp"
#include "support/catch.hpp"

using convoke::Error;
using convoke::Settings;
using convoke::Value;
using convoke::recipe::Recipe;
using convoke::recipe::to_string;
namespace data = convoke::data;
namespace nn = convoke::nn;
namespace engine = convoke::engine;

namespace {

// The line numbers in the tests below refer to this text.
constexpr const char* kRecipe = R"(name = "small"
seed = 7

[data]
path = "mnist.h5"
validation_split = 0.25

[model]
input = [1, 28, 28]
layers = [
  { layer = "conv2d", filters = 4, kernel = 3, activation = "relu" },
  { layer = "max_pool", size = 2 },
  { layer = "flatten" },
  { layer = "dense", units = 10, activation = "softmax" },
]

[train]
mode = "ensemble"
epochs = 5
batch = 64
optimizer = { name = "adam", learning_rate = 0.002 }

[ensemble]
members = 4
shards = "stratified"

[run]
threads = 2
)";

// Returns the text with `from` replaced by `to`.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kRecipe;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string error_with(const std::string& from, const std::string& to) {
  return message_of(with(from, to)).what;
}
std::string set_error(const std::string& change) { return message_of(kRecipe, {change}).what; }

}  // namespace

TEST_CASE("a recipe holds the written values, and defaults for the others") {
  const Recipe recipe = Recipe::parse(kRecipe, "recipe.toml");
  CHECK(recipe.name == "small");
  CHECK(recipe.seed == 7);
  CHECK(recipe.data.path == "mnist.h5");
  CHECK(recipe.data.train_split == "train");
  CHECK(recipe.data.test_split == "test");
  CHECK(recipe.data.normalize == "unit");
  CHECK(recipe.data.samples.validation_split == 0.25);
  CHECK(recipe.data.shuffle == "all");
  CHECK(recipe.model.input == std::vector<std::int64_t>{1, 28, 28});
  CHECK(recipe.model.layers.size() == 4);
  CHECK(recipe.train.mode == "ensemble");
  CHECK(recipe.train.loop.epochs == 5);
  CHECK(recipe.train.step.batch == 64);
  CHECK(recipe.train.step.micro_batch == 0);
  CHECK(recipe.train.step.reduction == engine::Reduction::kFast);
  CHECK(recipe.train.step.convolution == nn::ConvolutionChoice::kAuto);
  CHECK(*recipe.train.loop.optimizer->settings().find("name") == Value("adam"));
  CHECK(recipe.train.loop.learning_rate == 0.002);
  CHECK(recipe.train.reference_batch == 0);
  CHECK(recipe.learning_rate() == 0.002);
  CHECK(recipe.train.step.update.clip_value == 0);
  CHECK(recipe.train.step.update.clip_norm == 0);
  CHECK(recipe.train.step.update.ema == 0);
  CHECK(*recipe.train.loop.schedule->settings().find("name") == Value("constant"));
  CHECK(recipe.ensemble.members == 4);
  CHECK(recipe.ensemble.shards == data::Sharding::kStratified);
  CHECK(recipe.ensemble.rule == "majority");
  CHECK(recipe.run.execution.threads == 2);
  CHECK(recipe.run.checkpoints.every == convoke::run::CheckpointInterval{});
  CHECK(recipe.run.execution.bucket_bytes == 0);
  CHECK(recipe.micro_batch() == engine::auto_micro_batch(64));
}

TEST_CASE("a size has the unit of its key in a recipe, and is stored in bytes") {
  const Recipe recipe =
      Recipe::parse(kRecipe, "recipe.toml", {"run.bucket_kib=3", "run.memory_mib=2048", "run.cache_mib=5"});
  CHECK(recipe.run.execution.bucket_bytes == 3072);
  CHECK(recipe.run.memory.node_bytes == 2147483648);
  CHECK(recipe.run.memory.cache_bytes == 5242880);
  const std::string text = recipe.to_toml();
  for (const char* part : {"bucket_kib = 3\n", "memory_mib = 2048\n", "cache_mib = 5\n"}) {
    CAPTURE(part, text);
    CHECK_THAT(text, Contains(part));
  }
}

TEST_CASE("the resolved recipe contains every default and parses back to an equal recipe") {
  const Recipe recipe = Recipe::parse(kRecipe, "recipe.toml");
  const std::string text = recipe.to_toml();
  for (const char* part :
       {"description = \"\"", "normalize = \"unit\"", "shuffle = true", "micro_batch = \"auto\"",
        "reduction = \"fast\"", "convolution = \"auto\"", "beta_1 = ", "rule = \"majority\"",
        "checkpoint_every = 1", "bucket_kib = \"auto\"", "padding = \"valid\"", "bias = true",
        "activation = \"softmax\""}) {
    CAPTURE(part, text);
    CHECK_THAT(text, Contains(part));
  }
  const Recipe again = Recipe::parse(text, "recipe.toml");
  CHECK(again == recipe);
  CHECK(again.to_toml() == text);
  CHECK(again.graph().summary() == recipe.graph().summary());
  CHECK_FALSE(again == Recipe::parse(kRecipe, "recipe.toml", {"train.batch=32"}));
}

TEST_CASE("only pixels are divided by 255 by default") {
  const std::string sequence = with("input = [1, 28, 28]", "input = [784]");
  const std::string layers = sequence.substr(0, sequence.find("layers = [")) +
                             "layers = [{ layer = \"dense\", units = 10 }]\n" +
                             sequence.substr(sequence.find("[train]"));
  const Recipe table = Recipe::parse(layers, "recipe.toml");
  CHECK(table.data.normalize == "none");
  CHECK_THAT(table.to_toml(), Contains("normalize = \"none\""));
  CHECK(Recipe::parse(table.to_toml(), "recipe.toml") == table);
  CHECK(Recipe::parse(layers, "recipe.toml", {"data.normalize=standard"}).data.normalize == "standard");
  CHECK(Recipe::parse(kRecipe, "recipe.toml").data.normalize == "unit");
}

TEST_CASE("named choices map to the values of the areas") {
  for (const auto& [name, sharding] : data::kShardings) {
    const Recipe recipe = Recipe::parse(kRecipe, "recipe.toml", {"ensemble.shards=" + std::string(name)});
    CHECK(recipe.ensemble.shards == sharding);
    CHECK_THAT(recipe.to_toml(), Contains(fmt::format("shards = \"{}\"", name)));
  }
  const data::DatasetInfo info{.sample_shape = {1, 2, 2}, .channel_mean = {0.0}, .channel_std = {1.0}};
  for (const char* name : {"unit", "standard", "none"}) {
    const Recipe recipe = Recipe::parse(kRecipe, "recipe.toml", {std::string("data.normalize=") + name});
    CHECK_NOTHROW(data::normalization_from(recipe.data.normalize, info));
  }
  for (const char* name : {"fast", "exact"}) {
    CHECK(to_string(
              Recipe::parse(kRecipe, "r", {std::string("train.reduction=") + name}).train.step.reduction) ==
          name);
  }
  for (const char* name : {"auto", "direct", "winograd"}) {
    CHECK_THAT(Recipe::parse(kRecipe, "r", {std::string("train.convolution=") + name}).to_toml(),
               Contains(fmt::format("\nconvolution = \"{}\"\n", name)));
  }
}

TEST_CASE("a wrong recipe is refused with its line, the mistake and the fix") {
  // Unknown keys, with the nearest one.
  CHECK(error_with("epochs", "epoch") ==
        "recipe.toml:19: [train]: unknown key \"epoch\" (did you mean \"epochs\"?)");
  CHECK(error_with("[train]", "[trai]") ==
        "recipe.toml:17: recipe: unknown key \"trai\" (did you mean \"train\"?)");
  CHECK(error_with("seed", "sed") == "recipe.toml:2: recipe: unknown key \"sed\" (did you mean \"seed\"?)");
  CHECK(error_with("members", "nembers") ==
        "recipe.toml:24: [ensemble]: unknown key \"nembers\" (did you mean \"members\"?)");

  // Types.
  CHECK(error_with("epochs = 5", "epochs = \"five\"") ==
        "recipe.toml:19: [train]: \"epochs\" must be a whole number, but is text (\"five\")");
  CHECK(error_with("[run]\nthreads = 2", "run = 3") == "recipe.toml:27: [ensemble]: unknown key \"run\"");
  CHECK(error_with("seed = 7", "run = 3").find("recipe.toml:2") == 0);

  // Missing.
  CHECK(error_with("path = \"mnist.h5\"", "") == "recipe.toml:4: [data]: \"path\" is missing");
  CHECK(error_with("input = [1, 28, 28]", "") == "recipe.toml:8: [model]: \"input\" is missing");

  // Ranges.
  CHECK(error_with("epochs = 5", "epochs = -1") ==
        "recipe.toml:19: [train]: \"epochs\" must be at least 0, but is -1");
  CHECK(error_with("0.25", "1.0") ==
        "recipe.toml:6: [data]: \"validation_split\" must be at least 0 and below 1, but is 1.0");
  CHECK(
      error_with("members = 4", "members = 0") ==
      "recipe.toml:24: [ensemble]: \"members\" must be \"ranks\" or a whole number of at least 1, but is 0");
  CHECK(
      error_with("threads = 2", "threads = \"many\"") ==
      "recipe.toml:28: [run]: \"threads\" must be \"auto\" or a whole number of 1 to 4096, but is \"many\"");
  CHECK(error_with("0.002", "0") == "recipe.toml:21: optimizer: \"learning_rate\" must be above 0, but is 0");
  CHECK(error_with("[1, 28, 28]", "[1, 1, 28, 28]") ==
        "recipe.toml:9: [model]: \"input\" must be [channels, height, width], [length, features], [features] "
        "or [tokens], each at least 1, but is [1, 1, 28, 28]");
  CHECK(error_with("\"small\"", "\"a/b\"") ==
        "recipe.toml:1: recipe: \"name\" must be text that can name a folder, but is \"a/b\"");

  CHECK(message_of(with("epochs = 5", "ema = 1.0")).hint.find("ema: decay of a moving average") == 0);
  const Message both = message_of(with("batch = 64", "clip_norm = 1\nclip_value = 0.5"));
  CHECK(both.what == "recipe.toml:20: [train]: gradients are clipped by value or by norm, not by both");
  CHECK(both.hint == "set clip_value or clip_norm to 0");
  CHECK(Recipe::parse(with("batch = 64", "clip_norm = 1"), "recipe.toml").train.step.update.clip_norm == 1);

  CHECK(Recipe::parse(with("batch = 64", "ema = 0.99"), "recipe.toml").train.step.update.ema == 0.99);

  const Message lamb = message_of(with("batch = 64", "state_precision = \"bf16\""), {"train.optimizer=lamb"});
  CHECK(lamb.what ==
        "recipe.toml:20: [train]: lamb updates whole parameters at once, and keeps its state in fp32");
  CHECK(lamb.hint == "remove train.state_precision, or choose another optimizer");

  const Message plateau =
      message_of(with("batch = 64", "schedule = \"plateau\""), {"data.validation_split=0"});
  CHECK(plateau.what ==
        "recipe.toml:20: schedule \"plateau\" needs the validation loss, but data.validation_split is 0");
  CHECK(plateau.hint == "set data.validation_split, e.g. to 0.1, or choose another schedule");
  CHECK(message_of(with("batch = 64", "schedule = \"plateau\"")).what.empty());

  // Names.
  CHECK(error_with("\"ensemble\"", "\"ensembel\"") ==
        "recipe.toml:18: unknown mode \"ensembel\" (did you mean \"ensemble\"?)");
  CHECK(error_with("\"stratified\"", "\"stratefied\"") ==
        "recipe.toml:25: unknown sharding \"stratefied\" (did you mean \"stratified\"?)");
  CHECK(error_with("shards = \"stratified\"", "rule = \"majorety\"") ==
        "recipe.toml:25: unknown voting rule \"majorety\" (did you mean \"majority\"?)");

  const Message optimizer = message_of(with("\"adam\"", "\"adamm\""));
  CHECK(optimizer.what == "recipe.toml:21: unknown optimizer \"adamm\" (did you mean \"adam\"?)");
  CHECK(optimizer.hint == "known: adagrad, adam, adamw, lamb, lars, nadam, rmsprop, sgd");
}

TEST_CASE("an unknown key of another section is suggested with its whole path") {
  CHECK(error_with("epochs = 5", "learning_rate = 0.1") ==
        "recipe.toml:19: [train]: unknown key \"learning_rate\" (did you mean "
        "\"train.optimizer.learning_rate\"?)");
  CHECK(set_error("learning_rate=0.1") ==
        "--set learning_rate=0.1: recipe: unknown key \"learning_rate\" (did you mean "
        "\"train.optimizer.learning_rate\"?)");
  CHECK(set_error("optimizer.name=sgd") ==
        "--set optimizer.name=sgd: recipe: unknown key \"optimizer\" (did you mean \"train.optimizer\"?)");
  CHECK(set_error("run.epochs=3") ==
        "--set run.epochs=3: [run]: unknown key \"epochs\" (did you mean \"train.epochs\"?)");
  CHECK(set_error("train.horizontal_flp=true") ==
        "--set train.horizontal_flp=true: [train]: unknown key \"horizontal_flp\" (did you mean "
        "\"augment.horizontal_flip\"?)");
  CHECK(
      set_error("train.seed=3") ==
      "--set train.seed=3: [train]: unknown key \"seed\" (it belongs at the top, before the first section)");
  CHECK(message_of(kRecipe, {"log.nothing_like_it=3"}).hint == "known keys: every_steps, csv, tensorboard");
}

TEST_CASE("a micro-batch that does not divide the batch is refused with micro-batches that do") {
  const Message message = message_of(with("batch = 64", "batch = 64\nmicro_batch = 10"));
  CHECK(message.what == "recipe.toml:21: [train]: micro-batch 10 does not divide batch 64");
  CHECK(message.hint == "micro-batches that divide it: 2, 4, 8, 16, 32, 64; or micro_batch = \"auto\"");
  CHECK(message_of(with("batch = 64", "batch = 64\nmicro_batch = 100000000000")).hint ==
        "micro-batches that divide it: 16, 32, 64; or micro_batch = \"auto\"");
  CHECK(Recipe::parse(with("batch = 64", "batch = 64\nmicro_batch = 16"), "recipe.toml").micro_batch() == 16);
}

TEST_CASE("the linear scaling rule: the learning rate follows the batch") {
  const std::string text = with("batch = 64", "batch = 8192\nreference_batch = 256");
  CHECK(Recipe::parse(text, "recipe.toml", {"train.optimizer.learning_rate=0.1"}).learning_rate() ==
        Approx(3.2));  // Goyal et al., section 5.1
  CHECK(Recipe::parse(text, "recipe.toml", {"train.batch=256"}).learning_rate() == 0.002);
  CHECK(Recipe::parse(text, "recipe.toml", {"train.batch=64"}).learning_rate() == Approx(0.0005));
  CHECK(Recipe::parse(text, "recipe.toml").train.loop.learning_rate == 0.002);  // the written value is kept
  CHECK(error_with("batch = 64", "reference_batch = -1") ==
        "recipe.toml:20: [train]: \"reference_batch\" must be at least 0, but is -1");
}

TEST_CASE("a layer that is unknown or does not fit is refused at its line") {
  CHECK(error_with("\"max_pool\"", "\"maxpool\"").find("recipe.toml:12: ") == 0);
  const std::string unknown_key = error_with("kernel = 3", "kernel = 3, strides = 2");
  CAPTURE(unknown_key);
  CHECK(unknown_key.find("recipe.toml:11: ") == 0);
  CHECK_THAT(unknown_key, Contains("unknown key \"strides\" (did you mean \"stride\"?)"));
  const std::string error = error_with("kernel = 3", "kernel = 99");
  CAPTURE(error);
  CHECK(error.find("recipe.toml:11: ") == 0);
  CHECK_THAT(error, Contains("(N, 1, 28, 28)"));
  CHECK(message_of("[data]\npath = \"x\"\n[model]\ninput = [4]\nlayers = []\n").what ==
        "recipe.toml:5: [model]: a model needs \"layers\", \"zoo\" or \"file\"");
}

TEST_CASE("batch_norm of a model applies to all its batch norms except frozen ones") {
  const std::string model =
      "[data]\npath = \"x\"\n[model]\ninput = [4]\nlayers = [\n{ layer = \"batch_norm\" },\n"
      "{ layer = \"batch_norm\", frozen = true },\n{ layer = \"batch_norm\", synchronized = true },\n"
      "{ layer = \"dense\", units = 2 } ]\n";
  const auto synchronized = [&](const std::vector<std::string>& changes, const std::string& text) {
    std::vector<bool> found;
    for (const Settings& layer : Recipe::parse(text, "recipe.toml", changes).model.layers) {
      if (*layer.find("layer") == Value("batch_norm"))
        found.push_back(*layer.find("synchronized") == Value(true));
    }
    return found;
  };
  using Found = std::vector<bool>;
  CHECK(synchronized({}, model) == Found{false, false, true});
  CHECK(synchronized({"model.batch_norm=micro_batch"}, model) == Found{false, false, false});
  const std::vector<std::string> all{"model.batch_norm=synchronized"};
  CHECK(synchronized(all, model) == Found{true, false, true});
  CHECK(synchronized({}, Recipe::parse(model, "recipe.toml", all).to_toml()) == Found{true, false, true});
  const std::string zoo = "[data]\npath = \"x\"\n[model]\nzoo = \"resnet18\"\n";
  CHECK(synchronized(all, zoo) == Found(20, true));
  CHECK_THAT(message_of(model + "[train]\n", {"model.batch_norm=global"}).what,
             Contains("unknown group of batch norms"));
  CHECK(error_with("[model]", "[model]\nbatch_norm = \"synchronized\"") ==
        "recipe.toml:9: [model]: the model has no batch norm");
}

TEST_CASE("the command line changes single values") {
  const Recipe recipe = Recipe::parse(
      kRecipe, "recipe.toml",
      {"train.epochs=1", "train.optimizer=sgd", "train.optimizer.learning_rate=0.01", "run.threads=auto",
       "train.mode = sync", "model.input=[1,28,28]", "train.schedule.name=cosine", "name=other"});
  CHECK(recipe.name == "other");
  CHECK(recipe.train.loop.epochs == 1);
  CHECK(recipe.train.mode == "sync");
  CHECK(*recipe.train.loop.optimizer->settings().find("name") == Value("sgd"));
  CHECK(recipe.train.loop.learning_rate == 0.01);
  CHECK(*recipe.train.loop.schedule->settings().find("name") == Value("cosine"));
  CHECK(recipe.run.execution.threads == 0);
  // A single key keeps the rest of its table.
  const Recipe faster = Recipe::parse(kRecipe, "recipe.toml", {"train.optimizer.beta_1=0.5"});
  CHECK(faster.train.loop.learning_rate == 0.002);
}

TEST_CASE("an option in a table names its own line, also in a list, and the argument that set it") {
  const std::string optimizer = "optimizer = { name = \"adam\", learning_rate = 0.002 }\n";
  const std::string before = with(optimizer, "");
  const std::string text =
      before + "[train.optimizer]\nname = \"sgd\"\n\nmomentum = 2\n[train.schedule]\nname = \"cosine\"\n";
  const auto line = std::count(before.begin(), before.end(), '\n') + 4;
  CHECK(message_of(text).what.starts_with(fmt::format("recipe.toml:{}: optimizer", line)));
  CHECK(message_of(text).what.ends_with("\"momentum\" must be at least 0 and below 1, but is 2"));
  CHECK(message_of(text, {"train.optimizer.momentum=3"})
            .what.starts_with("--set train.optimizer.momentum=3: optimizer"));
  CHECK(message_of(text, {"train.optimizer.momentum=0", "train.schedule.nam=1"})
            .what.starts_with("--set train.schedule.nam=1: schedule"));

  const std::string list = "\n[[train.stages]]\nunfreeze = [\"*\"]\n\nepoch = 1.5\n";
  const auto last = std::count(text.begin(), text.end(), '\n') + 5;
  CHECK(message_of(text + list, {"train.optimizer.momentum=0"})
            .what.starts_with(fmt::format("recipe.toml:{}: ", last)));
}

TEST_CASE("an error of --set names the argument") {
  CHECK(set_error("train.epoch=3") ==
        "--set train.epoch=3: [train]: unknown key \"epoch\" (did you mean \"epochs\"?)");
  CHECK(set_error("trai.epochs=3") ==
        "--set trai.epochs=3: recipe: unknown key \"trai\" (did you mean \"train\"?)");
  CHECK(set_error("train.epochs=many") ==
        "--set train.epochs=many: [train]: \"epochs\" must be a whole number, but is text (\"many\")");
  CHECK(set_error("train.micro_batch=7") ==
        "--set train.micro_batch=7: [train]: micro-batch 7 does not divide batch 64");
  CHECK(set_error("train.optimizer=adamm") ==
        "--set train.optimizer=adamm: unknown optimizer \"adamm\" (did you mean \"adam\"?)");
  const std::string nested = set_error("train.optimizer.beta1=0.5");
  CAPTURE(nested);
  CHECK(nested.find("--set train.optimizer.beta1=0.5: ") == 0);
  CHECK_THAT(nested, Contains("did you mean \"beta_1\"?"));
  CHECK(set_error("train.epochs") == "--set train.epochs: expected key=value");
  CHECK(set_error("=3") == "--set =3: a key is empty");
  CHECK(set_error("train..epochs=3") == "--set train..epochs=3: a key is empty");
  CHECK(set_error("train.epochs.more=3") ==
        "--set train.epochs.more=3: \"train.epochs\" is a whole number, not a table with keys");
  const Message layers = message_of(kRecipe, {"model.layers.0.filters=8"});
  CHECK(layers.what == "--set model.layers.0.filters=8: layers cannot be changed from the command line");
  CHECK(layers.hint.find("copy the recipe") == 0);
}

TEST_CASE("penalties, frozen layers and shared layers are read, resolved and read back") {
  const std::string text = with(R"({ layer = "dense", units = 10, activation = "softmax" })",
                                R"({ layer = "dense", units = 8, name = "a", l2 = 0.5 },
  { layer = "tanh", trainable = false },
  { layer = "shared", of = "b" },
  { layer = "add", inputs = ["a", "shared"] })");
  const Message message = message_of(text);
  CHECK(message.what == "recipe.toml:16: no node is called \"b\" (did you mean \"a\"?)");
  const std::string good = with(R"({ layer = "dense", units = 10, activation = "softmax" })",
                                R"({ layer = "dense", units = 8, name = "a", l2 = 0.5 },
  { layer = "dense", units = 8, name = "b", trainable = false },
  { layer = "shared", of = "b", name = "c" },
  { layer = "add", inputs = ["a", "c"] })");
  const Recipe recipe = Recipe::parse(good, "recipe.toml");
  const nn::Graph graph = recipe.graph();
  CHECK(graph.node(graph.find("a")).options == nn::ParameterOptions{.l2 = 0.5});
  CHECK(graph.node(graph.find("b")).options == nn::ParameterOptions{.trainable = false});
  CHECK(graph.owner(graph.node(graph.find("c"))).name == "b");
  const Recipe useless = Recipe::parse(
      with("{ layer = \"max_pool\", size = 2 }", "{ layer = \"max_pool\", size = 2, l2 = 0.1 }"),
      "recipe.toml");
  CHECK(useless.model.notes == std::vector<std::string>{"\"l2\" has no effect on max_pool_1: none of its "
                                                        "parameters has a penalty"});
  CHECK(recipe.model.notes.empty());
  CHECK(Recipe::parse(recipe.to_toml(), "resolved.toml") == recipe);
}

TEST_CASE("the zoo's names for frozen parts are resolved, and unknown names are refused") {
  const auto text = [](const std::string& freeze) {
    return "[data]\npath = \"x.h5\"\n[model]\nzoo = \"mobilenet-v3-small\"\nfreeze = [\"" + freeze + "\"]\n";
  };
  const Recipe recipe = Recipe::parse(text("backbone"), "recipe.toml");
  CHECK(recipe.model.freeze == std::vector<std::string>{"before:classifier.0"});
  CHECK(recipe.graph().trainable_count() == 1615848);  // torchvision's classifier
  CHECK(Recipe::parse(recipe.to_toml(), "resolved.toml") == recipe);
  CHECK(Recipe::parse(text("blocks:2"), "recipe.toml").model.freeze ==
        std::vector<std::string>{"before:features.3.block.0.0"});
  const Message message = message_of(text("blocks:12"));
  CHECK(message.what ==
        "recipe.toml:5: [model]: freeze: \"blocks:12\": mobilenet-v3-small has only 11 blocks");
  CHECK(message.hint.find("\"blocks:11\" freezes all of them") == 0);
}

TEST_CASE("groups, stages and the cache of features are read, resolved and read back") {
  const std::string head = R"([data]
path = "x.h5"
[model]
zoo = "resnet18"
freeze = ["backbone"]
cache_features = 2
[train]
epochs = 9
)";
  const std::string good = head + R"([[train.groups]]
nodes = ["layer4*"]
learning_rate_factor = 0.1
[[train.stages]]
epoch = 3
unfreeze = ["layer4*"]
learning_rate = 1e-4
[[train.stages]]
epoch = 6
unfreeze = ["blocks:2"]
)";
  const Recipe recipe = Recipe::parse(good, "recipe.toml");
  CHECK(recipe.model.cache_features == 2);
  const nn::Graph graph = recipe.graph();
  CHECK(graph.node(graph.find("layer4.0.conv1")).options.rate_factor == 0.1);
  CHECK(graph.node(graph.find("layer3.0.conv1")).options.rate_factor == 1);
  REQUIRE(recipe.train.loop.stages.size() == 2);
  CHECK(recipe.train.loop.stages[0].learning_rate == 1e-4);
  CHECK(recipe.train.loop.stages[1].unfreeze == std::vector<std::string>{"before:layer2.0.conv1"});
  CHECK(Recipe::parse(recipe.to_toml(), "resolved.toml") == recipe);

  const auto what = [&](const std::string& rest) { return message_of(head + rest).what; };
  CHECK(what("[[train.groups]]\nnodes = [\"layer5*\"]\nlearning_rate_factor = 2\n")
            .find("recipe.toml:9: train.groups: no node with parameters is called \"layer5*\"") == 0);
  CHECK(what("[[train.groups]]\nnodes = [\"layer4*\"]\nlearning_rate_factor = 0\n") ==
        "recipe.toml:9: train.groups: \"learning_rate_factor\" is 0");
  CHECK(what("[[train.stages]]\nepoch = 3\nunfreeze = [\"predictions\"]\n") ==
        "recipe.toml:9: unfreeze: \"predictions\" names no frozen node");
  CHECK(what("[[train.stages]]\nepoch = 1\nunfreeze = [\"*\"]\n")
            .find("recipe.toml:10: train.stages: \"epoch\" must be at least 2") == 0);
  CHECK(what("[[train.stages]]\nepoch = 3\nlearning_rate = 1.0\n[[train.stages]]\nepoch = 3\n"
             "learning_rate = 2.0\n") ==
        "recipe.toml:12: train.stages: a stage at epoch 3 after one at epoch 3");
  const Message nothing = message_of(
      "[data]\npath = \"x.h5\"\n[model]\nzoo = \"resnet18\"\nfreeze = [\"layer2*\"]\ncache_features = 1\n");
  CHECK(nothing.what ==
        "recipe.toml:6: [model]: the first layers of the network are not frozen: conv1 is trained");
}

#include "convoke/recipe/recipe.hpp"

#include "convoke/core/error.hpp"
#include "message.hpp"
#include "support/catch.hpp"

// Messages for wrong values of keys of [train], [run] and [log]: the line, the key, and the allowed values.
// core/keys_test has the messages that all keys share; docs/recipes.md lists the type and range of each key.

using convoke::recipe::Recipe;

namespace {

// Returns the message for a recipe whose line 7, in [train], is `line`.
Message message_of_line(const std::string& line) {
  const std::string before = R"([data]
path = "x.h5"
[model]
input = [4]
layers = [{ layer = "dense", units = 3, activation = "softmax" }]
[train]
)";
  return message_of(before + line + "\n", {}, "r.toml");
}

}  // namespace

TEST_CASE("a wrong value is refused with line, key and allowed values; a wrong name with the nearest name") {
  struct Case {
    const char* line;
    const char* what;
  };
  constexpr Case kCases[]{
      {"batch = 2147483647",
       R"(r.toml:7: [train]: "batch" must be at least 1 and at most 16777216, but is 2147483647)"},
      {R"(loss = "softmax_crossentropy")",
       R"(r.toml:7: unknown loss "softmax_crossentropy" (did you mean "softmax_cross_entropy"?))"},
      {"loss = 3", R"(r.toml:7: [train]: "loss" must be a table, but is a whole number (3))"},
      {R"(loss = { name = "softmax_cross_entropy", label_smoothing = 1.5 })",
       R"(r.toml:7: loss: "label_smoothing" must be at least 0 and below 1, but is 1.5)"},
      {R"(loss = { name = "softmax_cross_entropy", smoothing = 0.1 })",
       R"(r.toml:7: loss: unknown key "smoothing")"},
      {R"(precision = "bf6")", R"(r.toml:7: unknown precision "bf6" (did you mean "bf16"?))"},
      {R"(precision = "fp16")", R"(r.toml:7: unknown precision "fp16")"},
      {"early_stopping = { patience = 2.5 }",
       R"(r.toml:7: early_stopping: "patience" must be a whole number, but is a number (2.5))"},
      {R"(early_stopping = { patience = 3, monitor = "validation_acuracy" })",
       R"(r.toml:7: unknown monitor "validation_acuracy" (did you mean "validation_accuracy"?))"},
      {R"(early_stopping = { patience = 3, monitr = "validation_loss" })",
       R"(r.toml:7: early_stopping: unknown key "monitr" (did you mean "monitor"?))"},
      {"early_stopping = { min_delta = 1 }", R"(r.toml:7: early_stopping: "patience" is missing)"},
      {"early_stopping = { patience = 3 }",
       "r.toml:7: early stopping needs validation samples, but data.validation_split is 0"},
      {"validate_every = 3", "r.toml:7: [train]: validate_every is 3, but data.validation_split is 0"},
      {"on_divergence = \"restart\"",
       R"(r.toml:7: unknown action on divergence "restart" (did you mean "restore"?))"},
      {R"(on_divergence = { name = "restore", factor = 1 })",
       R"(r.toml:7: on_divergence "restore": "factor" must be above 0 and below 1, but is 1)"},
      {R"(on_divergence = { name = "stop", times = 2 })",
       R"(r.toml:7: on_divergence "stop": unknown key "times")"},
      {"[run]\nstall_timeout = \"long\"", R"(r.toml:8: "long" is not a time)"},
      {"[run]\nverify_every = 5",
       "r: run.verify_every compares the bits of gradients, which train.reduction = \"fast\" does not keep "
       "equal"},
      {"[run]\nkeep_best = -1", R"(r.toml:8: [run]: "keep_best" must be at least 0, but is -1)"},
      {"[run]\ncheckpoint_every = \"often\"", R"(r.toml:8: "often" is not an interval)"},
      {"[run]\ncheckpoint_every = -1",
       R"(r.toml:8: [run]: "checkpoint_every" must be at least 0, but is -1)"},
      {"[run]\nstop_before = \"soon\"", R"(r.toml:8: "soon" is not a time)"},
      {"[run]\nshare_memory = \"node\"",
       R"(r.toml:8: [run]: "share_memory" must be "host", "numa" or false, but is "node")"},
      {"[run]\nshare_memory = 2",
       R"(r.toml:8: [run]: "share_memory" must be true or false, but is a whole number (2))"},
      {"[run]\nmemory_mib = 0",
       R"(r.toml:8: [run]: "memory_mib" must be "auto" or a whole number of 1 to 1099511627776, but is 0)"},
  };
  for (const auto& [line, what] : kCases) {
    CAPTURE(line);
    CHECK(message_of_line(line).what == what);
  }
}

TEST_CASE("ranks that train models of their own cannot be balanced") {
  const auto message = [](const std::string& strategy) {
    return message_of_line("strategy = " + strategy + "\n[run]\nbalance = true");
  };
  CHECK(message("{ name = \"local-sgd\", every = 4 }").what ==
        "r: run.balance divides the steps of one model, but with train.strategy = \"local-sgd\" each rank "
        "trains a model of its own");
  CHECK(message("\"none\"").hint == "set run.balance to false, or use train.strategy = \"allreduce\"");
  CHECK(message("\"allreduce\"").what.empty());
  CHECK(message("{ name = \"local-sgd\", every = 4, after_epochs = 2 }").what.empty());
}

TEST_CASE("the hint for a wrong name lists all names, the hint for a missing value says how to set it") {
  CHECK(message_of_line("loss = \"hinge\"").hint ==
        "known: mean_absolute_error, mean_squared_error, sigmoid_cross_entropy, sigmoid_focal, "
        "softmax_cross_entropy, softmax_focal");
  CHECK(message_of_line("precision = \"fp16\"").hint == "known: bf16, fp32");
  CHECK(message_of_line("early_stopping = { patience = 3, monitor = \"loss\" }").hint ==
        "known: validation_accuracy, validation_loss");
  CHECK(message_of_line("early_stopping = { patience = 3, wait = 1 }").hint ==
        "known keys: monitor, patience, min_delta, restore_best");
  CHECK(message_of_line("early_stopping = { patience = 3 }").hint ==
        "set data.validation_split, e.g. to 0.1, or remove early_stopping");
}

TEST_CASE("values of several types are accepted") {
  for (const char* line :
       {"[run]\nkeep_best = false", "[run]\nkeep_best = 3", "[run]\ncheckpoint_every = \"10 min\"",
        "[run]\ncheckpoint_every = 0", "[run]\ncheckpoint_fallback = \"/scratch/spare\"",
        "[run]\nstop_before = \"120s\"", "[run]\nstop_before = 60.5", "[run]\nshare_memory = true",
        "[run]\nshare_memory = false", "[run]\nshare_memory = \"numa\"", "[run]\nmemory_mib = \"auto\"",
        "[run]\nmemory_mib = 2048"}) {
    CAPTURE(line);
    CHECK(message_of_line(line).what.empty());
  }
}

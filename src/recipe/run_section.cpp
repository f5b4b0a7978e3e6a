#include "convoke/recipe/section_reader.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

run::CheckpointInterval read_interval(SectionReader& read) {
  constexpr const char* kKey = "checkpoint_every";
  if (!read.holds_text(kKey)) return {.epochs = read.get_count(kKey, 1, 0)};
  return read.at(kKey, [&] { return run::CheckpointInterval::from(read.require_string(kKey)); });
}

// A number, or true for 1.
std::int64_t read_keep_best(SectionReader& read) {
  const Value* const value = read.find("keep_best");
  if (value != nullptr && std::holds_alternative<std::int64_t>(value->data()))
    return read.get_count("keep_best", 1, 0);
  return read.get("keep_best", true) ? 1 : 0;
}

Value to_value(const run::CheckpointInterval& every) {
  return every.steps > 0 || every.seconds > 0 ? Value(every.to_string()) : Value(every.epochs);
}

}  // namespace

RunRecipe read_run(const TomlDocument& document) {
  SectionReader read(document, "run");
  RunRecipe run;
  const std::int64_t threads = read.get_count_or("threads", "auto");
  read.check("threads", threads <= 4096, "\"auto\" or at most 4096");
  run.threads = static_cast<int>(threads);
  run.checkpoint_every = read_interval(read);
  run.keep_checkpoints = read.get_count("keep_checkpoints", run.keep_checkpoints, 1);
  run.keep_best = read_keep_best(read);
  if (read.holds_text("stop_before")) {
    run.stop_before =
        read.at("stop_before", [&] { return run::seconds_from(read.require_string("stop_before")); });
  } else {
    run.stop_before = read.get("stop_before", run.stop_before);
    read.check("stop_before", run.stop_before >= 0, "seconds, or text as \"120 s\"");
  }
  run.bucket_kib = read.get_count_or("bucket_kib", "auto");
  read.check("bucket_kib", run.bucket_kib <= (std::int64_t{1} << 30), "\"auto\" or at most 1073741824");
  run.memory_mib = read.get_count_or("memory_mib", "auto");
  read.check("memory_mib", run.memory_mib <= (std::int64_t{1} << 40), "\"auto\" or at most 1099511627776");
  run.cache_mib = read.get_count_or("cache_mib", "auto");
  read.check("cache_mib", run.cache_mib <= (std::int64_t{1} << 40), "\"auto\" or at most 2^40");
  run.report = read.get("report", run.report);
  read.finish();
  return run;
}

Settings write(const RunRecipe& run) {
  return {{"threads", count_or(run.threads, "auto")},
          {"checkpoint_every", to_value(run.checkpoint_every)},
          {"keep_checkpoints", run.keep_checkpoints},
          {"keep_best", run.keep_best <= 1 ? Value(run.keep_best == 1) : Value(run.keep_best)},
          {"stop_before", run.stop_before},
          {"bucket_kib", count_or(run.bucket_kib, "auto")},
          {"memory_mib", count_or(run.memory_mib, "auto")},
          {"cache_mib", count_or(run.cache_mib, "auto")},
          {"report", run.report}};
}

}  // namespace convoke::recipe

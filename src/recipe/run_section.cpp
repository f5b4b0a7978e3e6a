#include "section_reader.hpp"
#include "sections.hpp"

namespace convoke::recipe {

RunRecipe read_run(const TomlDocument& document) {
  SectionReader read(document, "run");
  RunRecipe run;
  const std::int64_t threads = read.get_count_or("threads", "auto");
  read.check("threads", threads <= 4096, "\"auto\" or at most 4096");
  run.threads = static_cast<int>(threads);
  run.checkpoint_every = read.get_count("checkpoint_every", run.checkpoint_every, 0);
  run.keep_best = read.get("keep_best", run.keep_best);
  run.bucket_kib = read.get_count_or("bucket_kib", "auto");
  read.check("bucket_kib", run.bucket_kib <= (std::int64_t{1} << 30), "\"auto\" or at most 1073741824");
  run.cache_mib = read.get_count_or("cache_mib", "auto");
  read.check("cache_mib", run.cache_mib <= (std::int64_t{1} << 40), "\"auto\" or at most 2^40");
  run.memory_mib = read.get_count_or("memory_mib", "auto");
  read.check("memory_mib", run.memory_mib <= (std::int64_t{1} << 40), "\"auto\" or at most 1099511627776");
  read.finish();
  return run;
}

Settings write(const RunRecipe& run) {
  return {{"threads", count_or(run.threads, "auto")},
          {"checkpoint_every", run.checkpoint_every},
          {"keep_best", run.keep_best},
          {"bucket_kib", count_or(run.bucket_kib, "auto")},
          {"cache_mib", count_or(run.cache_mib, "auto")},
          {"memory_mib", count_or(run.memory_mib, "auto")}};
}

}  // namespace convoke::recipe

#include "convoke/recipe/section_reader.hpp"
#include "sections.hpp"

namespace convoke::recipe {

train::LogOptions read_log(const TomlDocument& document) {
  SectionReader read(document, "log");
  train::LogOptions log;
  log.csv = read.get("csv", log.csv);
  log.tensorboard = read.get("tensorboard", log.tensorboard);
  read.finish();
  return log;
}

Settings write(const train::LogOptions& log) { return {{"csv", log.csv}, {"tensorboard", log.tensorboard}}; }

}  // namespace convoke::recipe

#include "convoke/recipe/section_reader.hpp"
#include "sections.hpp"

namespace convoke::recipe {
namespace {

constexpr std::array kLogKeys{
    key<&train::LogOptions::csv>({.name = "csv",
                                  .effect = Effect::kNone,
                                  .help = "write `metrics.csv`: one line for each epoch and validation, for "
                                          "spreadsheets and data frames"}),
    key<&train::LogOptions::tensorboard>(
        {.name = "tensorboard",
         .effect = Effect::kNone,
         .help =
             "write event files to `tensorboard/`, one folder for each member of an ensemble, for "
             "`tensorboard --logdir RUN`: loss, accuracy, learning rate and speed by step and time, then the "
             "test results. A resumed run removes entries that are newer than its checkpoint"}),
};

}  // namespace

Section log_section() {
  return section_of<kLogKeys, &Recipe::log>("log", "Files that a run writes in addition to `metrics.jsonl`.");
}

train::LogOptions read_log(const TomlDocument& document) {
  SectionReader read(document, "log");
  train::LogOptions log;
  read.read(kLogKeys, log);
  return log;
}

}  // namespace convoke::recipe

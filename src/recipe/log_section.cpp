#include "sections.hpp"

namespace convoke::recipe {
namespace {

constexpr std::array kLogKeys{
    key<&train::LogOptions::every_steps>(
        {.name = "every_steps",
         .range = {.least = 0},
         .effect = Effect::kNone,
         .help =
             "write the loss, the accuracy and the learning rate of every N-th step into `metrics.jsonl`; "
             "the run's page draws the loss by step; 0: off"}),
    key<&train::LogOptions::csv>({.name = "csv",
                                  .effect = Effect::kNone,
                                  .help =
                                      "write `metrics.csv`: one line for each epoch, validation and logged "
                                      "step, for spreadsheets and data frames"}),
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
  return section_of<kLogKeys, &Recipe::log>("log",
                                            "A run logs this in addition to the epochs in `metrics.jsonl`.");
}

}  // namespace convoke::recipe

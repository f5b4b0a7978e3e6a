#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/core/lookup.hpp"
#include "convoke/report/page.hpp"
#include "convoke/report/run_record.hpp"

// The sections of a run's page, and the curves of its log, metrics.jsonl. A section adds nothing if the run
// lacks its data.

namespace convoke::report {

/// Names of classes, or their numbers if they have no names.
class ClassNames {
 public:
  explicit ClassNames(const Settings& evaluation);
  std::int64_t count() const { return count_; }
  std::string operator()(std::int64_t label) const;

 private:
  std::vector<std::string> names_;
  std::int64_t count_ = 0;
};

/// A phase of a run: its key in summary.json, and its name.
struct Phase {
  const char *key, *name;
};
/// Those from `kFirstOfStep` to `kLastOfStep` are the parts of training steps.
inline constexpr std::size_t kFirstOfStep = 1, kLastOfStep = 4;
inline constexpr std::array kPhases{Phase{"load", "load"},
                                    Phase{"data", "data"},
                                    Phase{"passes", "forward, backward"},
                                    Phase{"update", "update"},
                                    Phase{"exposed_communication", "communication"},
                                    Phase{"evaluation", "evaluation"},
                                    Phase{"gather", "gather"},
                                    Phase{"checkpoint", "checkpoints"}};

/// Names and values for Page::facts.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// Adds the number at `path`, as `text` shows it; nothing if there is none.
template <class Text>
void add_fact(Facts& facts, const std::string& name, const Settings& settings, const char* path,
              const Text& text) {
  if (const double value = number_at(settings, path); !std::isnan(value))
    facts.emplace_back(name, text(value));
}
std::string count_text(double number);  ///< "60,000"

/// Returns the numbers of each list in the list at `path`.
std::vector<std::vector<double>> rows_at(const Settings& settings, std::string_view path);

void add_curves(Page& page, const RunRecord& run);
void add_members(Page& page, const RunRecord& run);
void add_classes(Page& page, const RunRecord& run);
void add_roc(Page& page, const RunRecord& run);
void add_calibration(Page& page, const RunRecord& run);
void add_mistakes(Page& page, const RunRecord& run);
void add_times(Page& page, const RunRecord& run);
void add_setup(Page& page, const RunRecord& run);

/// Returns the shell command that repeats the training.
std::string repeating_command(const RunRecord& run);

/// Returns "2 ranks x 1 thread"; with a mark if threads shared cores.
std::string workers_text(const RunRecord& run);

/// Returns a warning about the numbers of a run whose threads shared cores.
std::string oversubscription_note(const Workers& workers);

/// Returns a warning about times that were not measured with a release build; "" for a release, and if the
/// type of the build is unknown.
std::string build_note(const Settings& environment);

/// Returns names and values from environment.json, in the order of the page.
Facts environment_facts(const Settings& environment);

/// A quantity over epochs or steps, without NaN values.
struct EpochCurve {
  std::string name;
  std::map<double, double> values =
      {};  ///< by completed epochs: 1 is the end of the first epoch; or by steps
};

/// A quantity in metrics.jsonl, and how a chart shows it.
struct Quantity {
  const char *key, *title, *axis;
  bool share;  ///< shown in percent
};

/// Returns the members that have completed an epoch, ascending.
std::vector<std::int64_t> trained_members(const RunRecord& run);

/// Returns `key` ("loss", "validation_accuracy", ...) of the epochs and of validations within them, for each
/// of trained_members(), named "member 3". If a resumed run repeats an epoch, the later line is used.
std::vector<EpochCurve> curves_by_member(const RunRecord& run, const std::string& key);

/// The most members that a chart or table shows one by one.
constexpr std::size_t kMostMembers = 64;

/// Returns curves that a chart can show: those of members, or, if they are too many, the lowest value, the
/// median and the highest at each position.
std::vector<EpochCurve> legible(std::vector<EpochCurve> members);

/// Returns the mean over all members that have reached each epoch.
EpochCurve mean_curve(const RunRecord& run, const std::string& key);

/// Draws curves in one chart, without empty ones. `share`: values are shares, shown in percent. `over`: what
/// the curves are over.
Chart curve_chart(const std::string& title, const std::string& note, const std::string& axis,
                  std::span<const EpochCurve> curves, bool share, const std::string& over = "epoch");

}  // namespace convoke::report

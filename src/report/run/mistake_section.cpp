#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/core/lookup.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/dataset_reader.hpp"
#include "report/page/sample_view.hpp"
#include "report/run/sections.hpp"

// The samples with the most confident wrong predictions, and the vote of each member.

namespace convoke::report {
namespace {

constexpr double kMistakeSide = 112;
constexpr std::size_t kMostVotes = 16;  // listed one by one

/// The split on which a run was tested, if the dataset still has it.
class TestSamples {
 public:
  explicit TestSamples(const RunRecord& run) {
    const std::string file = text_at(run.evaluation, "data");
    const std::string hash = text_at(run.evaluation, "content_hash");
    try {
      reader_.emplace(file);
      const auto& splits = reader_->splits();
      const auto split = std::ranges::find_if(
          splits, [&](const auto& part) { return part.name == text_at(run.evaluation, "split"); });
      if (split == splits.end() || reader_->info().content_hash != hash) {
        throw Error(file + " has other samples than those of the run's test");
      }
      split_ = static_cast<std::size_t>(split - splits.begin());
      names_ = explore::names_of(reader_->info(), file);
    } catch (const Error& error) {
      missing_ = error.what();
      reader_.reset();
    }
  }

  bool there() const { return reader_.has_value(); }
  const std::string& missing() const { return missing_; }  ///< why the samples cannot be read
  bool images() const { return there() && kind() == "images"; }
  std::string_view kind() const {
    return data::kind_of(reader_->info().sample_type, reader_->info().sample_shape);
  }
  explore::Sample read(std::int64_t sample) const { return explore::read_sample(*reader_, {split_, sample}); }
  Picture picture(std::int64_t sample) const { return picture_of(read(sample), reader_->info().sample_type); }
  std::string excerpt(std::int64_t sample) const {
    return excerpt_of(read(sample), kind() == "tokens", names_);
  }

 private:
  std::optional<data::DatasetReader> reader_;
  std::size_t split_ = 0;
  explore::Names names_;
  std::string missing_;
};

// True if the model predicts the label as a number, so that the mistake has outputs instead of probabilities.
bool has_outputs(const Settings& mistake) { return mistake.find("outputs") != nullptr; }

// Returns "2 (98 %), 2 (71 %), 3 (55 %)", with non-breaking spaces inside entries; of outputs "2 (1.94)".
std::string votes_text(const Settings& mistake, const ClassNames& names) {
  const bool outputs = has_outputs(mistake);
  const std::vector<double> votes = numbers_at(mistake, "votes");
  const std::vector<double> sure = numbers_at(mistake, outputs ? "outputs" : "probabilities");
  std::vector<std::string> texts;
  for (std::size_t m = 0; m < std::min({votes.size(), sure.size(), kMostVotes}); ++m) {
    texts.push_back(
        fmt::format("{}\u00a0({})", names(std::llround(votes[m])),
                    outputs ? fmt::format("{:.4g}", sure[m]) : fmt::format("{:.0f}\u00a0%", 100 * sure[m])));
  }
  if (votes.size() > texts.size()) texts.push_back(fmt::format("and {} more", votes.size() - texts.size()));
  return join(texts);
}

// Returns the picture, and its maps if the run has them.
std::vector<Picture> with_maps(const Picture& picture, const RunRecord& run, std::int64_t sample) {
  const auto maps = run.maps.find(sample);
  if (maps == run.maps.end()) return {picture};
  const auto& [predicted, truth] = maps->second;
  const Overlay none{1, 1, {0}};
  return {overlaid(picture, none), overlaid(picture, predicted), overlaid(picture, truth)};
}

// Returns the class elected by the rule of the run; -1 if the file lacks it.
std::int64_t elected(const Settings& mistake, const std::string& rule,
                     const std::vector<std::string>& rules) {
  const auto at = static_cast<std::size_t>(std::find(rules.begin(), rules.end(), rule) - rules.begin());
  const std::vector<double> labels = numbers_at(mistake, "elected");
  return at < labels.size() ? std::llround(labels[at]) : -1;
}

}  // namespace

std::vector<WorstMistake> worst_mistakes(const RunRecord& run) {
  const std::string rule = text_at(run.evaluation, "rule");
  const std::vector<std::string> rules = texts_at(run.evaluation, "rules");
  std::vector<WorstMistake> mistakes;
  for (const Settings& entry : tables_at(run.evaluation, "mistakes")) {
    mistakes.push_back({count_at(entry, "sample").value_or(0), count_at(entry, "truth").value_or(0),
                        elected(entry, rule, rules), entry});
    // Earlier versions listed the mistakes of the mean, some of which another rule does not make.
    if (mistakes.back().decision == mistakes.back().truth) mistakes.pop_back();
  }
  return mistakes;
}

void add_mistakes(Page& page, const RunRecord& run) {
  if (run.evaluation.empty()) return;
  const std::string rule = text_at(run.evaluation, "rule"), split = text_at(run.evaluation, "split");
  const std::vector<WorstMistake> mistakes = worst_mistakes(run);
  page.section("Worst mistakes");
  if (mistakes.empty()) {
    page.paragraph("There are none.");
    return;
  }
  const bool votes = numbers_at(run.evaluation, "members").size() > 1;
  const bool outputs = has_outputs(mistakes.front().details);
  page.paragraph(fmt::format(
      "The test samples whose true class {}. They show what the network confuses; some may have a "
      "wrong label.",
      votes     ? fmt::format("is {}, and was not elected by the {} vote",
                          outputs ? "farthest from the mean of the members' outputs"
                                      : "least probable by the mean of the members' probabilities",
                              rule)
      : outputs ? std::string("is farthest from the model's output, a number")
                : std::string("the model finds least probable")));
  if (!run.maps.empty()) {
    page.paragraph(fmt::format(
        "Each picture is shown three times: as it is, with what speaks for the predicted class, and with "
        "what speaks for the true class. Places of the output of {} from red to yellow raise the score of "
        "the class (Grad-CAM{}).",
        run.mapped_node, votes ? ", mean over the members" : ""));
  }
  const ClassNames names(run.evaluation);
  const TestSamples samples(run);
  if (!samples.there()) page.paragraph("The samples cannot be shown: " + samples.missing() + ".");

  std::vector<Figure> figures;
  Table table{{"sample", "true class",
               outputs ? votes ? "mean output" : "output"
               : votes ? "its mean probability"
                       : "its probability",
               votes ? "elected by " + rule : "predicted",
               votes     ? "votes"
               : outputs ? "nearest class"
                         : "probability"},
              {}};
  if (samples.there() && !samples.images())
    table.columns.emplace_back(samples.kind() == "tokens" ? "text" : "values");
  for (const auto& [sample, truth_label, decided, mistake] : mistakes) {
    const std::string truth = names(truth_label);
    const std::string decision = names(decided);
    const std::string votes_of_members = votes_text(mistake, names);
    if (samples.images()) {
      figures.push_back(
          row_of(with_maps(samples.picture(sample), run, sample),
                 votes ? fmt::format("{} {}: is {}, elected {}; votes {}", split, sample, truth, decision,
                                     votes_of_members)
                       : fmt::format("{} {}: is {}, predicted {}", split, sample, truth, votes_of_members),
                 kMistakeSide));
      continue;
    }
    table.rows.push_back({fmt::format("{} {}", split, sample), truth,
                          outputs ? Cell::number(number_at(mistake, "output"))
                                  : Cell::percent(number_at(mistake, "probability"), 2),
                          decision, votes_of_members});
    if (samples.there()) table.rows.back().emplace_back(samples.excerpt(sample));
  }
  if (samples.images()) {
    page.add(figures);
  } else {
    page.add(table);
  }
}

}  // namespace convoke::report

#include "convoke/data_prep/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/file_stamp.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_table.hpp"
#include "convoke/os/atomic_file.hpp"
#include "dataset_output.hpp"
#include "decoding.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr std::array kOrders{Named<Order>{"auto", Order::kAuto}, Named<Order>{"source", Order::kSource},
                             Named<Order>{"shuffled", Order::kShuffled}};

SourceOptions source_options(const PrepareOptions& options) {
  SourceOptions samples = options.samples;
  samples.splits_are_drawn = options.splits.draw();
  samples.output = options.output;
  return samples;
}

/// The steps of prepare(), and the data that they share.
class Preparation {
 public:
  Preparation(const PrepareOptions& options, const Team& team)
      : options_(options),
        team_(team),
        source_(open_source(options.source, source_options(options), options.kind)),
        catalog_(source_->catalog()),
        kind_(assumed_kind(options.source, options.samples, options.kind)),
        groups_(groups_of(catalog_, options.splits.group_by, notes_)),
        draws_(draws_splits(catalog_, options.splits)),
        decoding_(options, team, *source_) {
    if (!options.dry_run && fs::is_regular_file(options.output)) {
      os::require_other_file(options.output, options.source);
      for (const fs::path& file : source_->files()) os::require_other_file(options.output, file);
    }
    if (!options.dry_run && !options.overwrite && fs::exists(options.output)) {
      throw Error(fmt::format("{}: exists already", options.output.string()),
                  "choose another name, or add --overwrite");
    }
    const std::size_t names = options.samples.class_names.size();
    if (names > 0 && static_cast<std::int64_t>(names) != catalog_.classes) {
      throw Error(
          fmt::format("{}: {} class names for {} classes", options.source.string(), names, catalog_.classes),
          "name each class once, in the order of the labels");
    }
  }

  PrepareReport run() {
    // 1. Which samples belong to which split, as far as the source tells.
    assign_items();
    request_ = splits_.rule;
    // 2. Each process decodes its share, and continues after a sample that it cannot read. A split that is
    // drawn here waits for the samples that are equal or look the same, so what it learns from them does not
    // depend on it.
    const bool unites = draws_ && !options_.allow_duplicates && !options_.dry_run;
    fit(unites ? usable_items(catalog_) : splits_.items(splits_.training()));
    if (options_.dry_run) return rehearse();
    stamp_ = source_stamp();
    decoding_.update(identity());
    // 3. Such samples stay together. What the source learns from the training samples may make more of them
    // equal, such as texts that differ in words that training lacks. These join them, but not with folds:
    // which samples they are depends on the fold, and each sample is tested in exactly one.
    const bool folds = options_.splits.folds > 0;
    for (bool settled = !unites; !settled; settled = folds || leaks(decoding_.pairs(), splits_) == 0) {
      join_pairs();
      assign_items();
      fit(splits_.items(splits_.training()));
      decoding_.update(identity(), folds);
    }
    if (!options_.allow_duplicates) join_pairs();  // the dataset stores the groups
    report_.taken_up = decoding_.taken_up();
    report_.work = decoding_.work();
    // 4. Check that the samples are fit for training.
    if (fs::is_regular_file(options_.source) && stamp_ != source_stamp()) {
      throw Error(fmt::format("{}: has changed while it was prepared", options_.source.string()),
                  "repeat the command");
    }
    if (team_.index == 0) check_findings();
    team_.barrier();
    if (!options_.skip_bad) require_readable(decoding_.spool().faults());
    expect_samples_left(decoding_.spool().faults(), catalog_, splits_, options_.source.string());
    // 5. Write them into one dataset, in order.
    write();
    if (team_.index == 0) decoding_.spool().remove();
    return std::move(report_);
  }

 private:
  void join_pairs() {
    for (const Pair& pair : decoding_.pairs()) groups_.join(pair.first, pair.second);
  }

  void assign_items() {
    try {
      splits_ = assign_splits(catalog_, groups_, options_.splits);
    } catch (const Error& error) {
      const std::map<std::size_t, Error> faults =
          listed_faults(catalog_);  // they may be the reason for an empty split
      if (!options_.skip_bad) require_readable(faults);
      if (!faults.empty()) throw Error(fmt::format("{}; {}", error.what(), unreadable(faults)), error.hint());
      if (decoding_.pairs().empty()) throw;
      throw Error(error.what(), error.hint() +
                                    "; samples that are equal or look the same stay together, "
                                    "unless you add --allow-duplicates");
    }
    const bool named = !options_.splits.group_by.empty() || !options_.samples.columns.group.empty();
    if (!draws_ && named) expect_whole_groups(catalog_, groups_, splits_, options_.source.string());
  }

  void fit(const std::vector<std::size_t>& training) {
    const bool is_first = !std::exchange(fitted_, true);
    try {
      source_->fit(training);
    } catch (const Error&) {
      if (is_first) announce();
      throw;
    }
    if (is_first) announce();
    format_ = source_->format();
    report_.split_rule = splits_.rule;
    report_.notes = catalog_.notes;
    report_.notes.insert(report_.notes.end(), notes_.begin(), notes_.end());
    if (options_.encoding) require_encodable(format_, options_.source.string());
    report_.info = {.sample_shape = format_.shape,
                    .sample_type = format_.type,
                    .classes = catalog_.classes,
                    .class_names = options_.samples.class_names.empty() ? catalog_.class_names
                                                                        : options_.samples.class_names,
                    .vocabulary = format_.vocabulary,
                    .provenance = provenance()};
  }

  std::vector<Assumption> assumptions() const {
    std::vector<Assumption> all = catalog_.assumptions;
    if (draws_) {
      const bool wanted = options_.splits.draw();  // else a warning says why they are not the source's
      std::erase_if(all, [&](const Assumption& a) { return a.what == "splits" && (wanted || !a.doubtful); });
    }
    all.insert(all.begin(), kind_);
    return all;
  }

  void announce() const {
    if (options_.announce) options_.announce(assumptions());
  }

  // Ends a dry run with the sizes of the splits, or with the samples that are known to be unreadable.
  PrepareReport rehearse() {
    if (!options_.skip_bad) require_readable(listed_faults(catalog_));
    for (std::size_t s = 0; s < splits_.names.size(); ++s) {
      report_.splits.push_back(
          {.name = splits_.names[s], .samples = static_cast<std::int64_t>(splits_.items(s).size())});
    }
    return std::move(report_);
  }

  // For synthetic data, the provenance begins by saying so.
  std::string provenance() const {
    std::string mark = synthetic_mark(options_.source);
    if (const std::string& images = options_.samples.columns.images_folder; mark.empty() && !images.empty())
      mark = synthetic_mark(images);
    std::string text = mark.empty() ? catalog_.provenance : mark + "; " + catalog_.provenance;
    if (options_.encoding) text += "; stored as " + options_.encoding.to_string();
    return text;
  }

  // Returns a checksum of the files of the source, without those that prepare() writes into the same folder.
  // The identity of index 0 alone counts. Returns 0 if each sample has a file: its record then has the stamp.
  std::uint32_t source_stamp() const {
    if (team_.index != 0 || !source_->files().empty()) return 0;
    return checksum_of(files_below(options_.source, options_.output));
  }

  // Identifies the run that can be resumed: everything that decides the values of a sample or its number.
  std::string identity() const {
    std::string text = fmt::format("{}\n{}\n{} {} {}\n{}\n", fs::absolute(options_.source).string(), request_,
                                   format_.shape.to_string(), data::name_of(format_.type), format_.vocabulary,
                                   format_.preparation);
    if (options_.encoding) text += options_.encoding.to_string() + "\n";
    text += fmt::format("{:08x}\n", stamp_);
    for (const Item& item : catalog_.items) {
      text += fmt::format("{} {} {}\n", item.name, item.label, item.fault);
    }
    return text;
  }

  std::string unreadable(const std::map<std::size_t, Error>& faults) const {
    return unreadable_text(faults, catalog_, options_.source.string());
  }

  // The decoded samples stay for the next run.
  void require_readable(const std::map<std::size_t, Error>& faults) const {
    expect_readable(faults, catalog_, options_.source.string(), findings_file());
  }

  fs::path findings_file() const { return options_.output.string() + ".findings.csv"; }

  // At index 0: lists all findings next to the output.
  void check_findings() {
    report_.duplicates = std::ssize(decoding_.findings().duplicates);
    report_.near_duplicates = std::ssize(decoding_.findings().near_duplicates);
    report_.leaks = leaks(decoding_.findings().duplicates, splits_);
    report_.near_duplicate_leaks = leaks(decoding_.findings().near_duplicates, splits_);
    for (const Record& record : decoding_.records()) report_.source_bytes += record.bytes;
    const fs::path list = findings_file();
    std::error_code ignored;
    fs::remove(list, ignored);
    if (decoding_.findings().empty()) return;
    write_findings(list, decoding_.findings(), catalog_, splits_);
    report_.list = list;
    const bool refused =
        !options_.skip_bad && !decoding_.findings().faults.empty();  // require_readable reports them
    if (!options_.allow_duplicates && !refused) expect_no_leak(decoding_.findings(), catalog_, splits_, list);
  }

  // Describes what the source was taken for, how it makes samples and how they were prepared here, unless
  // they were taken unchanged.
  void describe_preparation() {
    std::string text = format_.preparation;
    if (!text.empty() || draws_ || report_.shuffled || report_.left_out > 0) {
      auto preparation = nlohmann::ordered_json::parse(text.empty() ? "{}" : text);
      preparation["splits"] = splits_.rule;
      preparation["shuffled"] = report_.shuffled;
      preparation["left_out"] = report_.left_out;
      text = preparation.dump();
    }
    report_.info.preparation = text;
    report_.info.assumptions = to_json(assumptions());
  }

  void write() {
    DatasetOutput output(options_, team_, catalog_, format_, decoding_.records());
    output.arrange(splits_, groups_, report_);
    describe_preparation();
    output.write(decoding_.spool(), report_);
    if (team_.index == 0) {
      const auto absent_in = [&](std::size_t split) {
        return absent_classes(catalog_, output.items(split), report_.info.class_names);
      };
      report_.absent = absent_in(splits_.training());
      for (std::size_t s = 0; s < splits_.names.size(); ++s) {
        const std::vector<std::string> absent = absent_in(s);
        if (s == splits_.training() || absent.empty()) continue;
        report_.notes.push_back(fmt::format("split {} has no samples of {} of {} classes: {}",
                                            splits_.names[s], absent.size(), catalog_.classes,
                                            listing(absent, 8)));
      }
    }
  }

  const PrepareOptions& options_;
  const Team& team_;
  std::unique_ptr<Source> source_;
  const Catalog& catalog_;
  const Assumption kind_;
  std::vector<std::string> notes_;  // besides those of the catalog
  Groups groups_;                   // of the source, and of equal samples
  bool draws_;                      // the splits are not the source's
  SplitAssignment splits_;
  bool fitted_ = false;
  std::string request_;      // the rule of the splits before equal samples are known
  std::uint32_t stamp_ = 0;  // source_stamp()
  SampleFormat format_;
  Decoding decoding_;
  PrepareReport report_;
};

}  // namespace

Order order_from(const std::string& name) { return find_in(kOrders, name, "order").value; }

PrepareReport prepare(const PrepareOptions& options, const Team& team) {
  assert(team.index >= 0 && team.index < team.count);
  return Preparation(options, team).run();
}

}  // namespace convoke::data_prep

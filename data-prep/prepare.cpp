#include "convoke/data_prep/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/shards.hpp"
#include "convoke/data_prep/sources/source_table.hpp"
#include "convoke/data_prep/synthetic_mark.hpp"
#include "decoding.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = 4 << 20;

struct NamedOrder {
  std::string_view name;
  Order order;
};
constexpr std::array kOrders{NamedOrder{"auto", Order::kAuto}, NamedOrder{"source", Order::kSource},
                             NamedOrder{"shuffled", Order::kShuffled}};

// Returns the size of a file, or of the files of a folder.
std::uint64_t size_on_disk(const fs::path& path) {
  if (!fs::is_directory(path)) return fs::file_size(path);
  std::uint64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) bytes += entry.file_size();
  return bytes;
}

// Returns the first `listed` entries, and those from `newest` on.
template <class T>
std::vector<T> without_older(const std::vector<T>& all, std::size_t listed, std::size_t newest) {
  std::vector<T> some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(listed));
  some.insert(some.end(), all.begin() + static_cast<std::ptrdiff_t>(newest), all.end());
  return some;
}

/// The steps of prepare(), and the data that they share.
class Preparation {
 public:
  Preparation(const PrepareOptions& options, const Team& team)
      : options_(options),
        team_(team),
        source_(open_source(options.source, options.samples, options.kind)),
        catalogue_(source_->catalogue()),
        kind_(assumed_kind(options.source, options.samples, options.kind)),
        groups_(groups_of(catalogue_, options.splits.group_by, notes_)),
        draws_(draws_splits(catalogue_, options.splits)),
        decoding_(options, team, *source_) {
    if (!options.dry_run && !options.overwrite && fs::exists(options.output)) {
      throw Error(fmt::format("{}: exists already", options.output.string()),
                  "choose another name, or add --overwrite");
    }
    const std::size_t names = options.samples.class_names.size();
    if (names > 0 && static_cast<std::int64_t>(names) != catalogue_.classes) {
      throw Error(fmt::format("{}: {} class names for {} classes", options.source.string(), names,
                              catalogue_.classes),
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
    fit(unites ? usable_items(catalogue_) : splits_.items(splits_.training()));
    if (options_.dry_run) return rehearse();
    decoding_.update(identity());
    // 3. Such samples stay together. What the source learns from the training samples may make more of them
    // equal.
    for (bool settled = !unites; !settled; settled = leaks(decoding_.pairs(), splits_) == 0) {
      join_pairs();
      assign_items();
      fit(splits_.items(splits_.training()));
      decoding_.update(identity());
    }
    if (!options_.allow_duplicates) join_pairs();  // the dataset stores the groups
    report_.taken_up = decoding_.taken_up();
    report_.work = decoding_.work();
    // 4. Check that the samples are fit for training.
    if (team_.index == 0) judge();
    team_.barrier();
    if (!options_.skip_bad) require_readable(decoding_.spool().faults());
    expect_samples_left(decoding_.spool().faults(), catalogue_, splits_, options_.source.string());
    // 5. Write them into one dataset, in order.
    write(decoding_.spool());
    if (team_.index == 0) decoding_.spool().remove();
    return std::move(report_);
  }

 private:
  void join_pairs() {
    for (const Pair& pair : decoding_.pairs()) groups_.join(pair.first, pair.second);
  }

  void assign_items() {
    try {
      splits_ = assign_splits(catalogue_, groups_, options_.splits);
    } catch (const Error& error) {
      const std::map<std::size_t, Error> faults =
          listed_faults(catalogue_);  // they may be the reason for an empty split
      if (!options_.skip_bad) require_readable(faults);
      if (!faults.empty()) throw Error(fmt::format("{}; {}", error.what(), unreadable(faults)), error.hint());
      if (decoding_.pairs().empty()) throw;
      throw Error(error.what(), error.hint() +
                                    "; samples that are equal or look the same stay together, "
                                    "unless you add --allow-duplicates");
    }
    const bool named = !options_.splits.group_by.empty() || !options_.samples.columns.group.empty();
    if (!draws_ && named) expect_whole_groups(catalogue_, groups_, splits_, options_.source.string());
  }

  void fit(const std::vector<std::size_t>& training) {
    const std::size_t notes = catalogue_.notes.size(), assumptions = catalogue_.assumptions.size();
    if (!fitted_) listed_ = {notes, assumptions};
    const bool is_first = !std::exchange(fitted_, true);
    learnt_ = {notes, assumptions};
    try {
      source_->fit(training);
    } catch (const Error&) {
      if (is_first) announce();
      throw;
    }
    if (is_first) announce();
    format_ = source_->format();
    report_.split_rule = splits_.rule;
    report_.notes = without_older(catalogue_.notes, listed_.notes, learnt_.notes);
    report_.notes.insert(report_.notes.end(), notes_.begin(), notes_.end());
    if (options_.encoding) require_encodable(format_, options_.source.string());
    sample_bytes_ = static_cast<std::size_t>(format_.shape.elements()) * data::size_of(format_.type);
    report_.info = {.sample_shape = format_.shape,
                    .sample_type = format_.type,
                    .classes = catalogue_.classes,
                    .class_names = options_.samples.class_names.empty() ? catalogue_.class_names
                                                                        : options_.samples.class_names,
                    .vocabulary = format_.vocabulary,
                    .provenance = provenance()};
  }

  std::vector<Assumption> assumptions() const {
    std::vector<Assumption> all =
        without_older(catalogue_.assumptions, listed_.assumptions, learnt_.assumptions);
    if (draws_) std::erase_if(all, [](const Assumption& a) { return a.what == "splits"; });
    all.insert(all.begin(), kind_);
    return all;
  }

  void announce() const {
    if (options_.announce) options_.announce(assumptions());
  }

  // Ends a dry run with the sizes of the splits, or with the samples that are known to be unreadable.
  PrepareReport rehearse() {
    if (!options_.skip_bad) require_readable(listed_faults(catalogue_));
    for (std::size_t s = 0; s < splits_.names.size(); ++s) {
      report_.splits.push_back(
          {.name = splits_.names[s], .samples = static_cast<std::int64_t>(splits_.items(s).size())});
    }
    return std::move(report_);
  }

  // For synthetic data, the provenance begins by saying so.
  std::string provenance() const {
    const std::string mark = synthetic_mark(options_.source);
    std::string text = mark.empty() ? catalogue_.provenance : mark + "; " + catalogue_.provenance;
    if (options_.encoding) text += "; stored as " + options_.encoding.to_string();
    return text;
  }

  // Identifies the run that can be resumed: everything that decides the values of a sample or its number.
  std::string identity() const {
    std::string text = fmt::format("{}\n{}\n{} {} {}\n{}\n", fs::absolute(options_.source).string(), request_,
                                   format_.shape.to_string(), data::name_of(format_.type), format_.vocabulary,
                                   format_.preparation);
    if (options_.encoding) text += options_.encoding.to_string() + "\n";
    for (const Item& item : catalogue_.items) {
      text += fmt::format("{} {} {}\n", item.name, item.label, item.fault);
    }
    return text;
  }

  std::string unreadable(const std::map<std::size_t, Error>& faults) const {
    return unreadable_text(faults, catalogue_, options_.source.string());
  }

  // The decoded samples stay for the next run.
  void require_readable(const std::map<std::size_t, Error>& faults) const {
    expect_readable(faults, catalogue_, options_.source.string(), findings_file());
  }

  fs::path findings_file() const { return options_.output.string() + ".findings.csv"; }

  bool is_picture() const { return format_.type == data::SampleType::kUint8; }

  // At index 0: lists all problems next to the output.
  void judge() {
    report_.duplicates = std::ssize(decoding_.findings().duplicates);
    report_.lookalikes = std::ssize(decoding_.findings().lookalikes);
    report_.leaks = leaks(decoding_.findings().duplicates, splits_);
    report_.lookalike_leaks = leaks(decoding_.findings().lookalikes, splits_);
    for (const Record& record : decoding_.records()) report_.source_bytes += record.bytes;
    const fs::path list = findings_file();
    std::error_code ignored;
    fs::remove(list, ignored);
    if (decoding_.findings().empty()) return;
    write_findings(list, decoding_.findings(), catalogue_, splits_);
    report_.list = list;
    const bool refused =
        !options_.skip_bad && !decoding_.findings().faults.empty();  // require_readable reports them
    if (!options_.allow_duplicates && !refused)
      expect_no_leak(decoding_.findings(), catalogue_, splits_, list);
  }

  // Returns the items of each split, in the order of the dataset.
  std::vector<std::vector<std::size_t>> arrange() {
    std::vector<std::vector<std::size_t>> arranged;
    const bool sized = sizes_differ();
    for (std::size_t s = 0; s < splits_.names.size(); ++s) {
      std::vector<std::size_t> items = splits_.items(s);
      std::erase_if(items, [&](std::size_t item) { return decoding_.records()[item].state == Record::kBad; });
      const bool shuffled = options_.order == Order::kShuffled ||
                            (options_.order == Order::kAuto && lies_by_class(catalogue_, items));
      if (shuffled) shuffle_items(items, options_.splits.seed, s);
      report_.shuffled = report_.shuffled || shuffled;
      report_.splits.push_back({.name = splits_.names[s],
                                .samples = static_cast<std::int64_t>(items.size()),
                                .weights = catalogue_.weighted,
                                .original_sizes = sized});
      if (options_.encoding) report_.splits.back().encoded_ends = encoded_ends(items);
      arranged.push_back(std::move(items));
    }
    number_groups(arranged);
    report_.left_out = std::count_if(decoding_.records().begin(), decoding_.records().end(),
                                     [](const Record& r) { return r.state == Record::kBad; });
    if (options_.shards > 0) report_.splits = data::in_shards(report_.splits, options_.shards);
    describe_preparation();
    return arranged;
  }

  // Numbers the groups in the order of the dataset. A split stores them if it has two samples of one group.
  void number_groups(const std::vector<std::vector<std::size_t>>& arranged) {
    group_of_.resize(catalogue_.items.size());
    std::unordered_map<std::size_t, std::int32_t> numbers;
    for (std::size_t s = 0; s < arranged.size(); ++s) {
      std::unordered_set<std::int32_t> seen;
      for (const std::size_t item : arranged[s]) {
        const auto next = static_cast<std::int32_t>(numbers.size());
        group_of_[item] = numbers.try_emplace(groups_.first_of(item), next).first->second;
        if (!seen.insert(group_of_[item]).second) report_.splits[s].groups = true;
      }
    }
  }

  std::vector<std::int64_t> encoded_ends(const std::vector<std::size_t>& items) const {
    std::vector<std::int64_t> ends;
    std::int64_t end = 0;
    for (const std::size_t item : items)
      ends.push_back(end += static_cast<std::int64_t>(decoding_.records()[item].encoded_bytes));
    return ends;
  }

  // True if the original size of any sample differs from its present size. (Rows of tables have no original
  // size.)
  bool sizes_differ() const {
    return std::any_of(decoding_.records().begin(), decoding_.records().end(), [&](const Record& record) {
      if (!is_picture()) return record.height > 0;
      return record.state == Record::kDone &&
             (record.height != format_.shape[1] || record.width != format_.shape[2]);
    });
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

  // Process 0 creates the file and sends the positions of its arrays to the others.
  data::DatasetWriter open_writer() const {
    if (team_.index == 0) {
      auto writer =
          data::DatasetWriter::create(options_.output, report_.info, report_.splits, options_.overwrite);
      std::vector<std::uint64_t> places = writer.places();
      team_.broadcast(places);
      return writer;
    }
    std::vector<std::uint64_t> places(data::DatasetWriter::place_count(report_.splits));
    team_.broadcast(places);
    return data::DatasetWriter::join(options_.output, report_.info, report_.splits, places);
  }

  void write(const Spool& spool) {
    const std::vector<std::vector<std::size_t>> arranged = arrange();
    data::DatasetWriter writer = open_writer();
    for (std::size_t s = 0; s < arranged.size(); ++s)
      write_split(report_.splits[s], arranged[s], spool, writer);
    writer.flush();
    team_.barrier();
    if (team_.index == 0) {
      report_.info = options_.encoding ? writer.finish(decoded(arranged, spool)) : writer.finish();
      report_.bytes = size_on_disk(options_.output);
      report_.absent = absent_classes(catalogue_, arranged[splits_.training()], report_.info.class_names);
    }
    team_.barrier();
  }

  void write_split(const data::SplitSize& split, const std::vector<std::size_t>& items, const Spool& spool,
                   data::DatasetWriter& writer) const {
    const Share mine(static_cast<std::int64_t>(items.size()), team_);
    const auto block = static_cast<std::int64_t>(std::max<std::size_t>(1, kBlockBytes / sample_bytes_));
    std::vector<std::byte> bytes;
    std::vector<std::int32_t> labels;
    std::vector<float> weights;
    std::vector<std::int32_t> sizes, groups;
    for (std::int64_t first = mine.first; first < mine.last; first += block) {
      const auto count = static_cast<std::size_t>(std::min(block, mine.last - first));
      bytes.clear();
      labels.clear();
      weights.clear();
      sizes.clear();
      groups.clear();
      for (std::size_t k = 0; k < count; ++k) {
        const std::size_t item = items[static_cast<std::size_t>(first) + k];
        append_stored(item, spool, bytes);
        labels.push_back(catalogue_.items[item].label);
        if (split.weights) weights.push_back(catalogue_.items[item].weight);
        if (split.original_sizes)
          sizes.insert(sizes.end(), {decoding_.records()[item].height, decoding_.records()[item].width});
        if (split.groups) groups.push_back(group_of_[item]);
      }
      writer.write(split.name, first, samples_in(bytes), labels, weights, sizes, groups);
    }
  }

  // Encoded samples were decoded already when they were encoded.
  data::DatasetWriter::ReadSamples decoded(const std::vector<std::vector<std::size_t>>& arranged,
                                           const Spool& spool) const {
    return [&](std::size_t split, std::int64_t first, std::span<std::byte> samples) {
      for (auto item = arranged[split].begin() + first; !samples.empty(); ++item) {
        spool.get(*item, decoding_.records()[*item], samples.first(sample_bytes_));
        samples = samples.subspan(sample_bytes_);
      }
    };
  }

  // Appends the sample as the dataset stores it.
  void append_stored(std::size_t item, const Spool& spool, std::vector<std::byte>& bytes) const {
    if (options_.encoding) {
      const std::vector<std::byte> encoded = spool.get_encoded(item, decoding_.records()[item]);
      bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    } else {
      bytes.resize(bytes.size() + sample_bytes_);
      spool.get(item, decoding_.records()[item], std::span(bytes).last(sample_bytes_));
    }
  }

  data::Samples samples_in(std::span<const std::byte> bytes) const {
    if (format_.type == data::SampleType::kUint8)
      return std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    if (format_.type == data::SampleType::kInt32)
      return std::span(reinterpret_cast<const std::int32_t*>(bytes.data()),
                       bytes.size() / sizeof(std::int32_t));
    return std::span(reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float));
  }

  const PrepareOptions& options_;
  const Team& team_;
  std::unique_ptr<Source> source_;
  const Catalogue& catalogue_;
  const Assumption kind_;
  std::vector<std::string> notes_;      // besides those of the catalogue
  Groups groups_;                       // of the source, and of equal samples
  std::vector<std::int32_t> group_of_;  // number of each item's group in the dataset
  bool draws_;                          // the splits are not the source's
  SplitAssignment splits_;
  // The source's messages: the first entries come from its listing, the others from each fit.
  struct Said {
    std::size_t notes = 0, assumptions = 0;
  };
  Said listed_, learnt_;  // the ends of the listing, and the beginnings of what was learnt last
  bool fitted_ = false;
  std::string request_;  // the rule of the splits before equal samples are known
  SampleFormat format_;
  std::size_t sample_bytes_ = 0;
  Decoding decoding_;
  PrepareReport report_;
};

}  // namespace

Order order_from(const std::string& name) { return find_in(kOrders, name, "order").order; }

PrepareReport prepare(const PrepareOptions& options, const Team& team) {
  assert(team.index >= 0 && team.index < team.count);
  return Preparation(options, team).run();
}

}  // namespace convoke::data_prep

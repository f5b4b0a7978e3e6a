#include "convoke/data_prep/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data/shards.hpp"
#include "convoke/data_prep/sources/source_table.hpp"
#include "convoke/data_prep/synthetic_mark.hpp"
#include "findings.hpp"
#include "spool.hpp"

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

/// The steps of prepare(), and the data that they share.
class Preparation {
 public:
  Preparation(const PrepareOptions& options, const Team& team)
      : options_(options),
        team_(team),
        source_(open_source(options.source, options.samples, options.kind)),
        catalogue_(source_->catalogue()),
        kind_(assumed_kind(options.source, options.samples, options.kind)) {
    if (!options.dry_run && !options.overwrite && fs::exists(options.output)) {
      throw Error(fmt::format("{}: exists already", options.output.string()),
                  "choose another name, or add --overwrite");
    }
    const std::size_t names = options.samples.class_names.size();
    if (names > 0 && static_cast<std::int64_t>(names) != catalogue_.classes) {
      throw Error(fmt::format("{}: {} class names for {} classes", options.output.string(), names,
                              catalogue_.classes));
    }
  }

  PrepareReport run() {
    // 1. Assign samples to splits; fit the source to the training samples.
    assign_items();
    if (options_.dry_run) return rehearse();
    // 2. Each process decodes its share, and continues after a sample that it cannot read.
    Spool spool(options_.output.string() + ".work", identity(), catalogue_.items.size(), sample_bytes_,
                team_);
    decode(spool);
    team_.barrier();
    // 3. Check that the samples are fit for training.
    records_ = spool.records();
    if (team_.index == 0) judge(spool);
    team_.barrier();
    if (!options_.skip_bad) require_readable(spool.faults());
    // 4. Write them into one dataset, in order.
    write(spool);
    if (team_.index == 0) spool.remove();
    return std::move(report_);
  }

 private:
  void assign_items() {
    try {
      splits_ = assign_splits(catalogue_, options_.splits);
    } catch (const Error&) {
      if (!options_.skip_bad) require_readable(listed_faults());  // they may be the reason for an empty split
      throw;
    }
    report_.split_rule = splits_.rule;
    try {
      source_->fit(splits_.items(splits_.training()));
    } catch (const Error&) {
      announce();
      throw;
    }
    announce();
    format_ = source_->format();
    report_.notes = catalogue_.notes;
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
    std::vector<Assumption> all{kind_};
    all.insert(all.end(), catalogue_.assumptions.begin(), catalogue_.assumptions.end());
    return all;
  }

  void announce() const {
    if (options_.announce) options_.announce(assumptions());
  }

  // Ends a dry run with the sizes of the splits, or with the samples that are known to be unreadable.
  PrepareReport rehearse() {
    if (!options_.skip_bad) require_readable(listed_faults());
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
    std::string text = fmt::format("{}\n{}\n{} {} {}\n{}\n", fs::absolute(options_.source).string(),
                                   splits_.rule, format_.shape.to_string(), data::name_of(format_.type),
                                   format_.vocabulary, format_.preparation);
    if (options_.encoding) text += options_.encoding.to_string() + "\n";
    for (std::size_t i = 0; i < catalogue_.items.size(); ++i) {
      const Item& item = catalogue_.items[i];
      text += fmt::format("{} {} {}\n", item.name, item.label, splits_.of_item[i]);
    }
    return text;
  }

  void decode(Spool& spool) {
    const std::vector<Record> before = spool.records();
    team_.barrier();  // all processes see the same state before any continues
    std::vector<std::size_t> pending;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i].state == Record::kMissing) pending.push_back(i);
    }
    report_.taken_up = static_cast<std::int64_t>(before.size() - pending.size());
    const Share mine(static_cast<std::int64_t>(pending.size()), team_);
    std::vector<std::byte> sample(sample_bytes_);
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t k = mine.first; k < mine.last; ++k) {
      decode_item(pending[static_cast<std::size_t>(k)], sample, spool);
      if (options_.progress) options_.progress(k + 1 - mine.first, mine.size());
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const std::array<double, 2> work{static_cast<double>(mine.size()), seconds.count()};
    const std::vector<double> all = team_.gather(work);
    for (std::size_t i = 0; i < all.size(); i += 2)
      report_.work.push_back({static_cast<std::int64_t>(all[i]), all[i + 1]});
  }

  void decode_item(std::size_t item, std::span<std::byte> sample, Spool& spool) {
    const std::string& fault = catalogue_.items[item].fault;
    if (!fault.empty()) return spool.put_bad(item, Error(fault));
    Original original;
    std::vector<std::byte> encoded;
    try {
      original = source_->read(item, sample);
      if (options_.encoding)
        encoded = encode(options_.encoding, original, catalogue_.items[item].name, format_.shape, sample);
    } catch (const Error& error) {
      return spool.put_bad(item, error);
    }
    Record record{.height = original.height, .width = original.width, .bytes = original.bytes};
    if (is_picture()) {
      const Shape& shape = format_.shape;
      record.hash = perceptual_hash({reinterpret_cast<const std::uint8_t*>(sample.data()), sample.size()},
                                    shape[1], shape[2], shape[0]);
    }
    spool.put(item, sample, record, encoded);
  }

  // Faults that the source knows without decoding.
  std::map<std::size_t, Error> listed_faults() const {
    std::map<std::size_t, Error> faults;
    for (std::size_t i = 0; i < catalogue_.items.size(); ++i) {
      if (!catalogue_.items[i].fault.empty()) faults.emplace(i, Error(catalogue_.items[i].fault));
    }
    return faults;
  }

  // Every process throws the same error. The decoded samples stay for the next run.
  void require_readable(const std::map<std::size_t, Error>& faults) const {
    constexpr std::size_t kShown = 20;
    if (faults.empty()) return;
    std::string text =
        fmt::format("{}: {} of {} samples cannot be read:", options_.source.string(),
                    format_count(std::ssize(faults)), format_count(std::ssize(catalogue_.items)));
    auto fault = faults.begin();
    for (std::size_t shown = 0; fault != faults.end() && shown < kShown; ++shown, ++fault) {
      const std::string &name = catalogue_.items[fault->first].name, reason = fault->second.what();
      text += fmt::format("\n  {}{}", reason.find(name) == std::string::npos ? name + ": " : "", reason);
    }
    if (fault != faults.end())
      text += fmt::format("\n  and {} more", format_count(std::distance(fault, faults.end())));
    std::string hint = faults.begin()->second.hint();
    hint += hint.empty() ? "fix or remove them, or leave" : "; or leave";
    hint += " them out with --skip-bad";
    if (fs::exists(findings_file())) hint += fmt::format("; {} lists them all", findings_file().string());
    throw Error(text, hint);
  }

  fs::path findings_file() const { return options_.output.string() + ".findings.csv"; }

  bool is_picture() const { return format_.type == data::SampleType::kUint8; }

  // At index 0: lists all problems next to the output.
  void judge(const Spool& spool) {
    Findings findings{spool.faults(), find_duplicates(records_, spool, sample_bytes_), {}};
    if (is_picture()) {
      const Shape& shape = format_.shape;
      findings.lookalikes = find_lookalikes(records_, spool, shape[1], shape[2], shape[0]);
    }
    report_.duplicates = static_cast<std::int64_t>(findings.duplicates.size());
    report_.lookalikes = static_cast<std::int64_t>(findings.lookalikes.size());
    report_.leaks = leaks(findings.duplicates, splits_);
    report_.lookalike_leaks = leaks(findings.lookalikes, splits_);
    for (const Record& record : records_) report_.source_bytes += record.bytes;
    const fs::path list = findings_file();
    std::error_code ignored;
    fs::remove(list, ignored);
    if (findings.empty()) return;
    write_findings(list, findings, catalogue_, splits_);
    report_.list = list;
    const bool refused = !options_.skip_bad && !findings.faults.empty();  // require_readable reports them
    if (!options_.allow_duplicates && !refused) expect_no_leak(findings, catalogue_, splits_, list);
  }

  // Returns the items of each split, in the order of the dataset.
  std::vector<std::vector<std::size_t>> arrange() {
    std::vector<std::vector<std::size_t>> arranged;
    const bool sized = sizes_differ();
    for (std::size_t s = 0; s < splits_.names.size(); ++s) {
      std::vector<std::size_t> items = splits_.items(s);
      std::erase_if(items, [&](std::size_t item) { return records_[item].state == Record::kBad; });
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
    report_.left_out = std::count_if(records_.begin(), records_.end(),
                                     [](const Record& r) { return r.state == Record::kBad; });
    if (options_.shards > 0) report_.splits = data::in_shards(report_.splits, options_.shards);
    describe_preparation();
    return arranged;
  }

  std::vector<std::int64_t> encoded_ends(const std::vector<std::size_t>& items) const {
    std::vector<std::int64_t> ends;
    std::int64_t end = 0;
    for (const std::size_t item : items)
      ends.push_back(end += static_cast<std::int64_t>(records_[item].encoded_bytes));
    return ends;
  }

  // True if the original size of any sample differs from its present size. (Rows of tables have no original
  // size.)
  bool sizes_differ() const {
    return std::any_of(records_.begin(), records_.end(), [&](const Record& record) {
      if (!is_picture()) return record.height > 0;
      return record.state == Record::kDone &&
             (record.height != format_.shape[1] || record.width != format_.shape[2]);
    });
  }

  // Describes how the source makes samples, what it was taken for, and how it was prepared here.
  void describe_preparation() {
    auto preparation =
        nlohmann::ordered_json::parse(format_.preparation.empty() ? "{}" : format_.preparation);
    preparation["splits"] = splits_.rule;
    preparation["shuffled"] = report_.shuffled;
    preparation["left_out"] = report_.left_out;
    report_.info.preparation = with_assumptions(preparation.dump(), assumptions());
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
      find_absent_classes(arranged);
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
    std::vector<std::int32_t> sizes;
    for (std::int64_t first = mine.first; first < mine.last; first += block) {
      const auto count = static_cast<std::size_t>(std::min(block, mine.last - first));
      bytes.clear();
      labels.clear();
      weights.clear();
      sizes.clear();
      for (std::size_t k = 0; k < count; ++k) {
        const std::size_t item = items[static_cast<std::size_t>(first) + k];
        append_stored(item, spool, bytes);
        labels.push_back(catalogue_.items[item].label);
        if (split.weights) weights.push_back(catalogue_.items[item].weight);
        if (split.original_sizes) sizes.insert(sizes.end(), {records_[item].height, records_[item].width});
      }
      writer.write(split.name, first, samples_in(bytes), labels, weights, sizes);
    }
  }

  // Encoded samples were decoded already when they were encoded.
  data::DatasetWriter::ReadSamples decoded(const std::vector<std::vector<std::size_t>>& arranged,
                                           const Spool& spool) const {
    return [&](std::size_t split, std::int64_t first, std::span<std::byte> samples) {
      for (auto item = arranged[split].begin() + first; !samples.empty(); ++item) {
        spool.get(*item, records_[*item], samples.first(sample_bytes_));
        samples = samples.subspan(sample_bytes_);
      }
    };
  }

  // Appends the sample as the dataset stores it.
  void append_stored(std::size_t item, const Spool& spool, std::vector<std::byte>& bytes) const {
    if (options_.encoding) {
      const std::vector<std::byte> encoded = spool.get_encoded(item, records_[item]);
      bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    } else {
      bytes.resize(bytes.size() + sample_bytes_);
      spool.get(item, records_[item], std::span(bytes).last(sample_bytes_));
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

  void find_absent_classes(const std::vector<std::vector<std::size_t>>& arranged) {
    std::vector<bool> there(static_cast<std::size_t>(catalogue_.classes));
    for (const std::size_t item : arranged[splits_.training()])
      there[static_cast<std::size_t>(catalogue_.items[item].label)] = true;
    for (std::size_t c = 0; c < there.size(); ++c) {
      if (!there[c])
        report_.absent.push_back(report_.info.class_names.empty() ? std::to_string(c)
                                                                  : report_.info.class_names[c]);
    }
  }

  const PrepareOptions& options_;
  const Team& team_;
  std::unique_ptr<Source> source_;
  const Catalogue& catalogue_;
  const Assumption kind_;
  SplitAssignment splits_;
  SampleFormat format_;
  std::size_t sample_bytes_ = 0;
  std::vector<Record> records_;
  PrepareReport report_;
};

}  // namespace

Order order_from(const std::string& name) { return find_in(kOrders, name, "order").order; }

PrepareReport prepare(const PrepareOptions& options, const Team& team) {
  assert(team.index >= 0 && team.index < team.count);
  return Preparation(options, team).run();
}

}  // namespace convoke::data_prep

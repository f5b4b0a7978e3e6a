#include "results/samples_from.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/text_encoding.hpp"
#include "convoke/data_prep/files/numbers.hpp"
#include "convoke/data_prep/preparation.hpp"
#include "convoke/data_prep/sources/csv_catalog.hpp"
#include "convoke/data_prep/sources/source_table.hpp"
#include "convoke/data_prep/table/table_preparation.hpp"
#include "convoke/data_prep/text/text_preparation.hpp"

namespace convoke::app {
namespace {

constexpr const char* kWhere = "the model's preparation";

std::string kind_of(const run::ModelDescription& model) {
  return data_prep::preparation_kind(model.preparation, kWhere);
}

std::string extension_of(const std::string& file) {
  return lower_case(std::filesystem::path(file).extension().string());
}

bool is_blank(const std::string& text) { return trimmed(text).empty(); }

// An encoder converts cells to samples for the network. reading(): how it reads a CSV. columns(): those that
// it needs, found in the header of a CSV. unknown(): true if training lacked the value of a cell of such a
// column. append(): appends the sample to `samples`; throws Error if the cells are not a sample.

class TextEncoder {
 public:
  explicit TextEncoder(const run::ModelDescription& model)
      : preparation_(data_prep::TextPreparation::from_json(model.preparation, kWhere)) {}

  data_prep::CsvReading reading(const std::string& file, const data_prep::ReadingOptions& options) const {
    if (options.header != "no") {
      if (auto texts = only_texts(file, options)) return *std::move(texts);
    }
    return data_prep::examine_csv(file, options);
  }

  std::vector<std::size_t> columns(const data_prep::CsvHeader& header, const std::string& file) const {
    const auto& names = header.names;
    const auto it = std::ranges::find(names, preparation_.column());
    if (it != names.end()) return {static_cast<std::size_t>(it - names.begin())};
    if (const auto column = data_prep::find_column(header, "", data_prep::kTextColumns, file))
      return {*column};
    throw Error(fmt::format("{}: has no column of texts", file),
                fmt::format("the columns are {}; the model was trained on \"{}\"", listing(names),
                            preparation_.column()));
  }

  bool unknown(std::size_t /*column*/, const std::string& /*cell*/) const { return false; }

  void append(const std::vector<std::string>& cells, std::vector<float>& samples) const {
    if (is_blank(cells.front())) throw Error("the text is empty");
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(preparation_.length()));
    preparation_.encode(cells.front(), tokens);
    samples.insert(samples.end(), tokens.begin(),
                   tokens.end());  // whole numbers, as the evaluator takes them
  }

 private:
  // Returns how a CSV is read whose first line as a whole is the name of a column of texts: it has no other
  // column, so separators are text.
  std::optional<data_prep::CsvReading> only_texts(const std::string& file,
                                                  data_prep::ReadingOptions options) const {
    options.separator = data_prep::kOneColumn;
    options.header = "yes";
    try {
      data_prep::CsvReading reading = data_prep::examine_csv(file, options);
      const data_prep::CsvHeader& header = reading.header;
      const bool named = header.names.front() == preparation_.column();
      if (named || data_prep::find_column(header, "", data_prep::kTextColumns, file)) return reading;
    } catch (const Error&) {  // reported when it is read in the usual way
    }
    return {};
  }

  data_prep::TextPreparation preparation_;
};

class TableEncoder {
 public:
  explicit TableEncoder(const run::ModelDescription& model)
      : preparation_(data_prep::TablePreparation::from_json(model.preparation, kWhere)),
        normalization_(model.normalization) {}

  data_prep::CsvReading reading(const std::string& file, const data_prep::ReadingOptions& options) const {
    return data_prep::examine_csv(file, options);
  }

  std::vector<std::size_t> columns(const data_prep::CsvHeader& header, const std::string& file) const {
    std::vector<std::size_t> columns;
    for (const data_prep::TableColumn& column : preparation_.columns()) {
      columns.push_back(data_prep::column_called(header, column.name, file));
    }
    return columns;
  }

  bool unknown(std::size_t column, const std::string& cell) const {
    const data_prep::TableColumn& known = preparation_.columns()[column];
    return !known.numeric() && !data_prep::is_missing(cell) && !known.category_of(cell);
  }

  void append(const std::vector<std::string>& cells, std::vector<float>& samples) const {
    std::vector<float> features(preparation_.width());
    preparation_.encode(cells, features);
    for (std::size_t f = 0; f < features.size(); ++f) {
      samples.push_back(features[f] * normalization_.scale[f] + normalization_.shift[f]);
    }
  }

 private:
  data_prep::TablePreparation preparation_;
  data::Normalization normalization_;
};

TextEncoder text_encoder(const std::string& input, const run::ModelDescription& model) {
  if (kind_of(model) == "text") return TextEncoder(model);
  throw Error(
      fmt::format("{}: the model does not take texts", input),
      model.graph.input_shape().rank() == 3 ? "it takes pictures: pass their files"
      : kind_of(model) == "table"
          ? "it takes rows of a table: pass a .csv with its columns"
          : "the vocabulary of words is in a dataset of `convoke prepare`, and in the folder of a run on it: "
            "pass this folder");
}

/// The cells of a column whose values training lacked.
struct UnknownValues {
  std::size_t count = 0;
  std::string first;
};

/// The rows of a CSV, which are encoded when they are loaded.
template <class Encoder>
class CsvRows {
 public:
  CsvRows(const std::string& file, const run::ModelDescription& model)
      : encoder_(model),
        reading_(encoder_.reading(file, data_prep::reading_in(model.preparation, kWhere))),
        reader_(reading_.rows()) {
    const data_prep::CsvHeader& header = reading_.header;
    columns_ = encoder_.columns(header, file);
    unknown_.resize(columns_.size());
    for (CsvRow row; reader_.next(row);) {
      data_prep::drop_empty_rest(row, header.names.size());
      if (row.cells.size() != header.names.size()) {
        throw Error(fmt::format("{}: the row has {} cells, but the first row has {}", reader_.at(row),
                                row.cells.size(), header.names.size()));
      }
      rows_.push_back({.line = row.line, .offset = row.offset});
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        const std::string& cell = row.cells[columns_[c]];
        if (encoder_.unknown(c, cell) && unknown_[c].count++ == 0) unknown_[c].first = cell;
      }
    }
    if (rows_.empty()) throw Error(fmt::format("{}: the file has no rows", file));
  }

  std::int64_t count() const { return static_cast<std::int64_t>(rows_.size()); }

  /// Returns what may make predictions wrong: doubtful readings, and values that training lacked.
  std::vector<std::string> doubts() const {
    std::vector<std::string> doubts;
    for (const data_prep::Assumption& assumption : reading_.assumptions) {
      if (!assumption.doubtful) continue;
      doubts.push_back(fmt::format("{}: {} ({})", assumption.what, assumption.taken, assumption.why));
    }
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (unknown_[c].count == 0) continue;
      doubts.push_back(
          fmt::format("column \"{}\": {} of {} cells have values that the training rows lack, such as \"{}\"",
                      reading_.header.names[columns_[c]], unknown_[c].count, rows_.size(),
                      shortened(one_line(unknown_[c].first), 60)));
    }
    return doubts;
  }

  std::vector<float> load(std::int64_t first, std::int64_t n) {
    std::vector<float> samples;
    reader_.seek(rows_.at(static_cast<std::size_t>(first)));
    std::vector<std::string> cells(columns_.size());
    CsvRow row;
    for (std::int64_t i = 0; i < n && reader_.next(row); ++i) {
      for (std::size_t c = 0; c < cells.size(); ++c) cells[c] = row.cells[columns_[c]];
      try {
        encoder_.append(cells, samples);
      } catch (const Error& error) {
        throw Error(fmt::format("{}: {}", reader_.at(row), error.what()), error.hint());
      }
    }
    return samples;
  }

 private:
  Encoder encoder_;
  data_prep::CsvReading reading_;
  CsvReader reader_;
  std::vector<std::size_t> columns_;
  std::vector<UnknownValues> unknown_;  // of each column
  std::vector<CsvRow> rows_;            // without cells
};

template <class Encoder>
SampleSource from_rows(const std::string& file, const run::ModelDescription& model, bool root) {
  const auto rows = std::make_shared<CsvRows<Encoder>>(file, model);
  for (const std::string& doubt : rows->doubts()) {
    if (root) fmt::print(stderr, "warning: {}: {}\n", file, doubt);
  }
  return {file, rows->count(), [rows](std::int64_t first, std::int64_t n) { return rows->load(first, n); }};
}

// Returns the lines of `file`, one text per line.
SampleSource from_lines(const std::string& file, const run::ModelDescription& model) {
  constexpr const char* kHint =
      "each line is a text: remove empty lines, or use a .csv with a column of texts";
  const TextEncoder encoder = text_encoder(file, model);
  const std::optional<std::string> bytes = read_text(file);
  if (!bytes) throw Error(fmt::format("{}: cannot be read", file));
  const std::string encoding = data_prep::reading_in(model.preparation, kWhere).encoding;
  std::istringstream in(decoded_file(*bytes, encoding, file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (is_blank(line)) throw Error(fmt::format("{}:{}: the line is empty", file, lines.size() + 1), kHint);
    lines.push_back(std::move(line));
  }
  if (lines.empty()) throw Error(fmt::format("{}: is empty", file), kHint);
  const auto count = static_cast<std::int64_t>(lines.size());
  return {file, count, [encoder, lines = std::move(lines)](std::int64_t first, std::int64_t n) {
            std::vector<float> samples;
            for (std::int64_t i = first; i < first + n; ++i) {
              encoder.append({lines[static_cast<std::size_t>(i)]}, samples);
            }
            return samples;
          }};
}

}  // namespace

std::vector<SampleSource> samples_from_texts(const std::vector<std::string>& texts,
                                             const run::ModelDescription& model) {
  std::vector<SampleSource> sources;
  for (const std::string& text : texts) {
    const TextEncoder encoder = text_encoder("--text", model);
    if (is_blank(text)) throw Error(fmt::format("--text \"{}\": the text is empty", text));
    sources.push_back({text, 1, [encoder, text](std::int64_t, std::int64_t) {
                         std::vector<float> sample;
                         encoder.append({text}, sample);
                         return sample;
                       }});
  }
  return sources;
}

bool is_raw_file(const std::string& input) {
  const std::string extension = extension_of(input);
  return extension == ".csv" || extension == ".tsv" || extension == ".txt";
}

SampleSource samples_from_raw_file(const std::string& file, const run::ModelDescription& model, bool root) {
  if (extension_of(file) == ".txt") return from_lines(file, model);
  const std::string kind = kind_of(model);
  if (kind == "text") return from_rows<TextEncoder>(file, model, root);
  if (kind == "table") return from_rows<TableEncoder>(file, model, root);
  throw Error(fmt::format("{}: the model takes neither texts nor rows of tables", file),
              model.graph.input_shape().rank() == 3
                  ? "it takes pictures: pass their files"
                  : "its dataset does not say how samples were prepared; datasets of `convoke prepare` do");
}

void require_same_preparation(const run::ModelDescription& model, const data::DatasetInfo& dataset,
                              const std::string& dataset_file) {
  const std::string kind = kind_of(model);
  if (kind != "text" && kind != "table") return;
  if (data_prep::preparation_kind(dataset.preparation, dataset_file).empty()) return;
  if (data_prep::prepare_alike(model.preparation, dataset.preparation)) return;
  throw Error(
      fmt::format("{}: the samples were not prepared like those that the model was trained on", dataset_file),
      kind == "text" ? "its words have other numbers: pass the CSV of the texts, or the dataset of the model"
                     : "its columns are scaled differently: pass the CSV, or the dataset of the model");
}

}  // namespace convoke::app

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoke/core/text.hpp"
#include "convoke/report/dataset_page.hpp"
#include "shown.hpp"

// Counts, values, lengths and words over all samples.

namespace convoke::report {
namespace {

constexpr std::int64_t kMostChannels = 64;   // rows of a table of channels or features
constexpr std::int64_t kMostHistograms = 6;  // features with a chart
constexpr std::size_t kWordsShown = 15;
constexpr const char* kBoxNote =
    "Box: quartiles and median. Whiskers: 5th to 95th percentile. Outer marks: minimum and maximum.";

std::string sentence(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  }
  return text;
}

// Returns the `most` features of whose variance the class explains the largest shares, the largest first; the
// first features if the shares are unknown.
std::vector<std::size_t> by_ratio(const Shown& shown, std::int64_t most) {
  const std::size_t features = shown.found.survey.histograms.size();
  const std::vector<double>& ratios = shown.found.correlation_ratios;
  return explore::largest<std::size_t>(ratios.size() == features ? ratios : std::vector<double>(features),
                                       most);
}

// The table of a Chart::Kind::kBox.
Table box_table(const std::string& what) {
  return {{what, "minimum", "5 %", "first quartile", "median", "third quartile", "95 %", "maximum"}, {}};
}

void add_box(Table& table, const std::string& name, const explore::BoxPlot& box, int digits = 4) {
  std::vector<Cell> row{name};
  for (const double value :
       {box.minimum, box.low, box.first_quartile, box.median, box.third_quartile, box.high, box.maximum}) {
    row.push_back(Cell::number(value, digits));
  }
  table.rows.push_back(std::move(row));
}

Table moments_table(const Shown& shown) {
  const bool ratios = !shown.found.correlation_ratios.empty() && !shown.images();
  Table table{{shown.images() ? "channel" : "feature"}, {}};
  for (const auto& split : shown.found.survey.splits) {
    for (const char* what : {"mean", "standard deviation", "minimum", "maximum"}) {
      table.columns.push_back(fmt::format("{} {}", split.name, what));
    }
  }
  if (ratios) table.columns.insert(table.columns.begin() + 1, "explained by the class");
  for (const std::size_t c : by_ratio(shown, kMostChannels)) {
    std::vector<Cell> row{shown.channel_name(c)};
    if (ratios) row.push_back(Cell::percent(shown.found.correlation_ratios[c]));
    for (const auto& split : shown.found.survey.splits) {
      const explore::Moments& m = split.channels[c];
      const int digits = digits_for(m);
      row.insert(row.end(), {Cell::number(m.mean, digits), Cell::number(m.deviation, 5),
                             Cell::number(m.minimum, digits), Cell::number(m.maximum, digits)});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Shows all channels of 8-bit images in one histogram, in bins of 8 values.
Chart byte_histogram(const Shown& shown) {
  constexpr std::size_t kValuesPerBin = 8;
  Chart chart{Chart::Kind::kHistogram,
              "Pixel values",
              fmt::format("All pixels of {}, in bins of {} values; the axis is logarithmic.",
                          shown.found.survey.splits.front().name, kValuesPerBin),
              "value from",
              "pixels",
              {{"value from"}, {}},
              true};
  const auto& histograms = shown.found.survey.histograms;
  for (std::size_t c = 0; c < histograms.size(); ++c) chart.table.columns.push_back(shown.channel_name(c));
  for (std::size_t begin = 0; begin < 256; begin += kValuesPerBin) {
    std::vector<Cell> row{Cell::count(static_cast<std::int64_t>(begin))};
    for (const explore::Histogram& histogram : histograms) {
      std::int64_t count = 0;
      for (std::size_t v = 0; v < kValuesPerBin; ++v) count += histogram.counts[begin + v];
      row.push_back(Cell::count(count));
    }
    chart.table.rows.push_back(std::move(row));
  }
  return chart;
}

Chart histogram_chart(const std::string& title, const std::string& note, const std::string& x_title,
                      const std::string& y_title, const explore::Histogram& histogram) {
  Chart chart{Chart::Kind::kHistogram, title, note, x_title, y_title, {{"from", y_title}, {}}};
  const std::size_t bins = histogram.counts.size();
  const auto edge = [&](std::size_t bin) {
    return histogram.begin + histogram.width * static_cast<double>(bin);
  };
  const int digits = digits_for(std::max(std::abs(edge(0)), std::abs(edge(bins))), histogram.width);
  for (std::size_t bin = 0; bin < bins; ++bin) {
    chart.table.rows.push_back({Cell::number(edge(bin), digits), Cell::count(histogram.counts[bin])});
  }
  return chart;
}

std::vector<Chart> number_histograms(const Shown& shown) {
  std::vector<Chart> charts;
  for (const std::size_t c : by_ratio(shown, kMostHistograms)) {
    charts.push_back(histogram_chart(
        fmt::format("Values of {}", shown.channel_name(c)),
        fmt::format("{} rows of {}, chosen at random.", format_count(shown.found.survey.rows.rows),
                    shown.found.survey.splits.front().name),
        "value from", "rows", shown.found.survey.histograms[c]));
  }
  return charts;
}

// Features have different units, so their boxes share an axis only after standardization, as in the table.
Chart standardized_boxes(const Shown& shown) {
  Chart chart{Chart::Kind::kBox,
              shown.images() ? "Values by channel" : "Values by feature",
              sentence({"In standard deviations from the mean.", kBoxNote}),
              "",
              "standard deviations",
              box_table(shown.images() ? "channel" : "feature")};
  for (const std::size_t c : by_ratio(shown, kMostChannels)) {
    const explore::Moments& m = shown.found.survey.splits.front().channels[c];
    const auto scaled = [&](double v) { return m.deviation > 0 ? (v - m.mean) / m.deviation : 0; };
    const explore::BoxPlot& box = shown.found.survey.boxes[c];
    add_box(chart.table, shown.channel_name(c),
            {box.count, scaled(box.minimum), scaled(box.low), scaled(box.first_quartile), scaled(box.median),
             scaled(box.third_quartile), scaled(box.high), scaled(box.maximum)});
  }
  return chart;
}

// Shows a box for each of the shown classes that has samples.
Chart class_boxes(const Shown& shown, const std::string& title, const std::string& note,
                  const std::string& axis, const std::vector<explore::BoxPlot>& boxes) {
  Chart chart{Chart::Kind::kBox, title, sentence({note, kBoxNote, shown.of_classes()}), "", axis,
              box_table("class")};
  std::vector<double> ends;
  for (const explore::BoxPlot& box : boxes) {
    if (box.count > 0) ends.insert(ends.end(), {box.minimum, box.maximum});
  }
  const int digits = digits_for(ends);
  for (std::size_t s = 0; s < boxes.size(); ++s) {
    if (boxes[s].count > 0)
      add_box(chart.table, shown.class_name(shown.found.survey.shown_classes[s]), boxes[s], digits);
  }
  return chart;
}

void add_normality(Page& page, const Shown& shown) {
  const std::vector<explore::Normality>& tests = shown.found.normality;
  page.heading("Normality");
  const std::string split = shown.found.survey.splits.front().name;
  page.paragraph(
      fmt::format("The test of D'Agostino and Pearson (1973), which asks whether values may come from a "
                  "normal distribution, by their skewness and kurtosis: {}, {}. The smaller p, the less "
                  "likely; of very many values it is almost always 0, so compare the skewness and the "
                  "kurtosis with 0.",
                  split,
                  shown.found.info.sample_type == data::SampleType::kUint8
                      ? "all values"
                      : fmt::format("{} rows", format_count(shown.found.survey.rows.rows))));
  Table table{{shown.images() ? "channel" : "feature", "skewness", "excess kurtosis", "K²", "p"}, {}};
  for (const std::size_t c : by_ratio(shown, kMostChannels)) {
    const explore::Normality& test = tests[c];
    table.rows.push_back({shown.channel_name(c), Cell::number(test.skewness), Cell::number(test.kurtosis),
                          Cell::number(test.statistic), Cell::number(test.p, 3)});
  }
  page.add(table);
  const explore::Comparison& comparison = shown.found.comparison;
  if (!shown.images()) return;
  page.paragraph(
      fmt::format("Pixel by pixel, in a sample of {} images as {}: of {} values of a vector, {} may be "
                  "normal (p of 1 % or more).",
                  format_count(std::ssize(comparison.samples)), comparison.vectors,
                  format_count(std::ssize(comparison.pca.mean)), format_count(comparison.normal_columns)));
}

}  // namespace

void add_classes(Page& page, const Shown& shown) {
  const auto& splits = shown.found.survey.splits;
  page.section("Classes");
  Chart chart{Chart::Kind::kBar, "Samples per class and split", shown.of_classes(), "", "samples",
              {{"class"}, {}}};
  for (const auto& split : splits) chart.table.columns.push_back(split.name);
  Table all = chart.table;
  for (const auto& split : splits) all.columns.push_back("share of " + split.name);
  for (std::int32_t k = 0; k < shown.found.info.classes; ++k) {
    std::vector<Cell> row{shown.class_name(k)};
    for (const auto& split : splits)
      row.push_back(Cell::count(split.class_counts[static_cast<std::size_t>(k)]));
    const auto& visible = shown.found.survey.shown_classes;
    if (std::binary_search(visible.begin(), visible.end(), k)) chart.table.rows.push_back(row);
    for (const auto& split : splits) {
      row.push_back(Cell::percent(static_cast<double>(split.class_counts[static_cast<std::size_t>(k)]) /
                                  static_cast<double>(split.count)));
    }
    all.rows.push_back(std::move(row));
  }
  std::vector<Cell> total{"all"};
  for (const auto& split : splits) total.push_back(Cell::count(split.count));
  for (std::size_t i = 0; i < splits.size(); ++i) total.push_back(Cell::percent(1));
  all.rows.push_back(std::move(total));
  page.add(chart);
  page.add(all);
}

void add_originals(Page& page, const Shown& shown) {
  const auto& originals = shown.found.originals;
  if (originals.empty()) return;
  page.section("Sizes before preparing");
  Table table = box_table("");
  std::vector<Chart> charts;
  for (const explore::Extent& original : originals) {
    add_box(table, original.name, original.box);
    charts.push_back(
        histogram_chart("Original " + original.name,
                        fmt::format("All samples of {}.", shown.found.survey.splits.front().name),
                        shown.tokens() ? "tokens from" : "pixels from", "samples", original.histogram));
  }
  page.add(table);
  page.side_by_side(charts);
}

void add_encoded(Page& page, const Shown& shown) {
  const auto& encoded = shown.found.encoded;
  if (!encoded) return;
  page.section("Sizes of the encoded pictures");
  Table table = box_table("");
  add_box(table, encoded->name, encoded->box);
  page.add(table);
  page.add(histogram_chart("Sizes of the encoded pictures",
                           fmt::format("All samples of {}.", shown.found.survey.splits.front().name),
                           "kB from", "samples", encoded->histogram));
}

void add_values(Page& page, const Shown& shown) {
  page.section("Values");
  const explore::Survey& survey = shown.found.survey;
  page.add(moments_table(shown));
  if (std::ssize(survey.histograms) > kMostChannels) {
    page.paragraph(fmt::format("The {} features, of {}, whose variance the class explains best.",
                               kMostChannels, format_count(std::ssize(survey.histograms))));
  }
  std::vector<Chart> charts;
  if (shown.found.info.sample_type == data::SampleType::kUint8) {
    charts.push_back(byte_histogram(shown));
    Chart channels{Chart::Kind::kBox, "Pixel values by channel", kBoxNote, "", "value", box_table("channel")};
    for (std::size_t c = 0; c < survey.boxes.size(); ++c) {
      add_box(channels.table, shown.channel_name(c), survey.boxes[c]);
    }
    if (survey.boxes.size() > 1) charts.push_back(std::move(channels));
    charts.push_back(
        class_boxes(shown, "Pixel values by class", "All pixels.", "value", survey.class_values));
  } else {
    charts = number_histograms(shown);
    charts.push_back(standardized_boxes(shown));
  }
  if (shown.images()) {
    charts.push_back(class_boxes(shown, "Brightness by class", "The mean value of each image.", "mean value",
                                 survey.brightness));
  }
  page.side_by_side(charts);
  add_normality(page, shown);
}

void add_lengths_and_words(Page& page, const Shown& shown) {
  const explore::Survey& survey = shown.found.survey;
  page.section("Lengths");
  Table lengths = box_table("split");
  for (const auto& split : survey.splits) add_box(lengths, split.name, split.lengths);
  page.add(lengths);
  const std::vector<Chart> charts{
      histogram_chart("Length of texts",
                      fmt::format("Tokens without padding, {}.", survey.splits.front().name), "tokens from",
                      "texts", survey.lengths),
      class_boxes(shown, "Length by class", "Tokens without padding.", "tokens", survey.class_lengths)};
  page.side_by_side(charts);

  page.section("Words by class");
  if (shown.found.names.words.empty())
    page.paragraph("The dataset has no vocabulary, so tokens are shown as numbers.");
  page.paragraph(
      "Words that are more frequent in a class than elsewhere, by log-odds in standard deviations, with all "
      "texts as the prior (Monroe, Colaresi and Quinn 2008).");
  std::vector<Chart> words;
  for (const std::int32_t label : survey.shown_classes) {
    Chart chart{Chart::Kind::kBar,
                fmt::format("Words of {}", shown.class_name(label)),
                "",
                "",
                "standard deviations",
                {{"word", "standard deviations"}, {}}};
    for (const explore::Word& word : explore::telling_words(survey.words, label, kWordsShown)) {
      chart.table.rows.push_back({shown.word(word.token), Cell::number(word.score, 3)});
    }
    if (!chart.table.rows.empty()) words.push_back(std::move(chart));
  }
  page.side_by_side(words);
  Table frequent{{"word", "occurrences", "share"}, {}};
  for (const explore::Word& word : explore::frequent_words(survey.words, 2 * kWordsShown)) {
    frequent.rows.push_back({shown.word(word.token), Cell::count(word.count), Cell::percent(word.score)});
  }
  page.heading("Most frequent words");
  page.add(frequent);
}

}  // namespace convoke::report

#include "sources/csv_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "convoke/data_prep/files/names.hpp"
#include "convoke/data_prep/files/numbers.hpp"
#include "convoke/data_prep/sources/csv_catalog.hpp"

namespace convoke::data_prep {
namespace {

constexpr std::int64_t kEnoughRows = 5;  // to say that a number lies beyond the others

/// The cells of a column below the first row.
struct Below {
  NumberColumn numbers;
  std::int64_t missing = 0;
  std::map<std::string, std::int64_t> values;
  std::vector<double> read;  // the numbers, if all cells are
  bool numeric = false;

  bool rises() const { return std::is_sorted(read.begin(), read.end()); }
  bool counts_from(double first) const {
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (read[i] != first + static_cast<double>(i)) return false;
    }
    return !read.empty();
  }
};

Below survey(std::size_t column, const std::vector<CsvRow>& rows) {
  Below below;
  for (const CsvRow& row : rows) {
    if (column >= row.cells.size()) continue;
    const std::string& cell = row.cells[column];
    if (is_missing_number(cell)) {
      ++below.missing;
      continue;
    }
    below.numbers.add(cell, row.line);
    ++below.values[trimmed(cell)];
  }
  const NumberFormat format = below.numbers.format(0);
  below.numeric = below.numbers.is_numeric(format);
  if (!below.numeric) return below;
  for (const CsvRow& row : rows) {
    if (column >= row.cells.size() || is_missing_number(row.cells[column])) continue;
    if (const std::optional<double> number = format.read(row.cells[column])) below.read.push_back(*number);
  }
  return below;
}

std::optional<double> number_of(const std::string& cell, const Below& below) {
  const std::optional<double> number = below.numbers.format(0).read(cell);
  return number ? number : number_in(cell);
}

// True for at least three numbers in equal steps, or six rising ones.
bool is_series(const std::vector<double>& numbers) {
  if (numbers.size() < 3) return false;
  const double step = numbers[1] - numbers[0];
  if (step == 0) return false;
  bool equal = true, rising = true;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const double here = numbers[i] - numbers[i - 1];
    equal = equal && std::abs(here - step) <= 1e-6 * std::abs(step);
    rising = rising && here > 0;
  }
  return equal || (rising && numbers.size() >= 6);
}

/// The columns' votes for and against a header.
class Vote {
 public:
  void header(double weight, const std::string& why) { add(header_, weight, header_why_, why); }
  void sample(double weight, const std::string& why) { add(sample_, weight, sample_why_, why); }

  HeaderGuess result(bool if_equal) const {
    const bool header = header_ == sample_ ? if_equal : header_ > sample_;
    const std::string& why = header ? header_why_ : sample_why_;
    const std::string& against = header ? sample_why_ : header_why_;
    HeaderGuess guess{.header = header, .doubtful = header_ > 0 && sample_ > 0, .why = why};
    if (guess.doubtful) guess.why += (guess.why.empty() ? "" : "; but ") + against;
    return guess;
  }

 private:
  static void add(double& sum, double weight, std::string& reason, const std::string& why) {
    sum += weight;
    if (reason.empty()) reason = why;
  }
  double header_ = 0, sample_ = 0;
  std::string header_why_, sample_why_;
};

std::string quoted(const std::string& cell) { return fmt::format("\"{}\"", trimmed(cell)); }

void vote_by_text(const std::string& cell, const Below& below, Vote& vote) {
  const std::string name = trimmed(cell);
  if (is_picture_name(name)) return vote.sample(10, quoted(name) + " is the name of a picture");
  if (is_usual_name(name)) vote.header(2, quoted(name) + " is a usual name of a column");
  if (below.numeric) return vote.header(1, quoted(name) + " is above numbers");
  if (below.values.count(name) > 0) return vote.sample(1, quoted(name) + " recurs below");
  const std::int64_t cells = below.numbers.cells();
  const bool categories = cells >= 2 && 2 * std::ssize(below.values) <= std::max<std::int64_t>(cells, 2);
  if (categories) {
    vote.header(1, quoted(name) + " does not recur below");
  } else if (cells == 0) {
    vote.header(0.5, quoted(name) + " is above empty cells");
  }
}

void vote_by_number(const std::string& cell, double number, const Below& below, Vote& vote) {
  const auto [least, most] = std::minmax_element(below.read.begin(), below.read.end());
  const bool beyond = std::ssize(below.read) >= kEnoughRows && (number < *least || number > *most);
  if (beyond && !below.rises()) {
    vote.header(0.5, quoted(cell) + " lies beyond all numbers below");
  } else {
    vote.sample(1, quoted(cell) + " is a number as those below");
  }
}

bool could_be_header(const std::vector<std::string>& cells) {
  std::set<std::string> seen;
  return std::all_of(cells.begin(), cells.end(), [&](const std::string& cell) {
    return !trimmed(cell).empty() && !number_in(cell) && !is_picture_name(cell) && seen.insert(cell).second;
  });
}

}  // namespace

HeaderGuess guess_header(const std::vector<std::string>& first, const std::vector<CsvRow>& below) {
  Vote vote;
  std::vector<double> series, next;
  std::vector<std::pair<std::string, Below>> numbers;  // above numbers
  for (std::size_t c = 0; c < first.size(); ++c) {
    Below column = survey(c, below);
    if (trimmed(first[c]).empty()) {
      if (column.counts_from(0) || column.counts_from(1))
        vote.header(1, fmt::format("the empty cell {} is above an index", c + 1));
      continue;
    }
    if (is_missing(first[c])) continue;
    const std::optional<double> number = number_of(first[c], column);
    if (!number || !column.numeric) {
      vote_by_text(first[c], column, vote);
      continue;
    }
    series.push_back(*number);
    if (!column.read.empty()) next.push_back(column.read.front());
    numbers.emplace_back(first[c], std::move(column));
  }
  if (is_series(series) && !is_series(next)) {
    vote.header(static_cast<double>(series.size()),
                fmt::format("{}, {}, {}, ... rise steadily, and the row below does not", series[0], series[1],
                            series[2]));
  } else {
    for (const auto& [cell, column] : numbers) vote_by_number(cell, *number_of(cell, column), column, vote);
  }
  return vote.result(could_be_header(first));
}

CsvHeader name_columns(const std::vector<std::string>& first, bool written) {
  CsvHeader header{.names = {}, .written = written};
  std::set<std::string> used;
  for (const std::string& cell : first) {
    if (written) used.insert(trimmed(cell));
  }
  std::set<std::string> seen;
  std::map<std::string, int> repeats;  // the last number behind each name
  for (std::size_t c = 0; c < first.size(); ++c) {
    std::string name = written ? trimmed(first[c]) : "";
    header.unnamed.push_back(name.empty() || name.starts_with("Unnamed: "));  // pandas
    if (name.empty()) name = fmt::format("column_{}", c + 1);
    if (!seen.insert(name).second) {
      std::string numbered;
      int& last = repeats[name];
      while (numbered.empty() || used.count(numbered) > 0 || seen.count(numbered) > 0)
        numbered = fmt::format("{}.{}", name, ++last);
      seen.insert(numbered);
      name = numbered;
    }
    header.names.push_back(std::move(name));
  }
  return header;
}

}  // namespace convoke::data_prep

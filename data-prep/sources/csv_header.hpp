#pragma once
#include <string>
#include <vector>

#include "convoke/core/csv.hpp"
#include "convoke/data_prep/sources/csv_reading.hpp"

namespace convoke::data_prep {

/// Whether the first row of a CSV has names, and why.
struct HeaderGuess {
  bool header = true;
  bool doubtful = false;  ///< the columns disagree
  std::string why;
};

/// Compares the first cell of each column with those below it:
///
///     cell                                  below it                      speaks for
///     text                                  numbers                       a header
///     a usual name of labels, texts, ...    anything                      a header
///     text                                  categories, without it        a header
///     empty                                 0, 1, 2, ... or 1, 2, 3, ...  a header (pandas' index)
///     numbers in equal steps, or a          other numbers                 a header (columns 0 ... N, years,
///     rising row of six or more                                           wavelengths)
///     a number                              numbers beyond which it lies  weakly for a header
///     a number                              numbers around it             a sample
///     anything                              among others, the same        a sample
///     the name of a picture                 anything                      a sample
HeaderGuess guess_header(const std::vector<std::string>& first, const std::vector<CsvRow>& below);

/// Returns the names of the columns; `first` is the first row.
CsvHeader name_columns(const std::vector<std::string>& first, bool written);

/// True for names such as label, text, filename or split, in any case.
bool is_usual_name(const std::string& cell);

}  // namespace convoke::data_prep

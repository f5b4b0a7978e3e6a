#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>

#include "convoke/data_prep/sources/csv_catalog.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// Returns the column of texts: the named one, or one called text, review, sentence, tweet, content, ...
std::optional<std::size_t> find_text_column(const CsvHeader& header, const std::string& given,
                                            const std::filesystem::path& file);

/// The same without a given name; in a CSV without a header the only column, of at most four, whose cells
/// mostly differ and have three words or more.
std::optional<std::size_t> find_text_column(const CsvReading& reading);

/// True for a .csv or .tsv that has a column of texts.
bool is_text_csv(const std::filesystem::path& path, const ReadingOptions& options = {});

/// Opens a CSV of texts and their labels (see find_roles for the other columns), e.g. IMDb's
/// `review,sentiment`. A row without a text has a fault; a text without a known word is kept and consists of
/// padding. Throws Error as list_rows().
std::unique_ptr<Source> open_text_csv(const std::filesystem::path& file, const SourceOptions& options);

}  // namespace convoke::data_prep

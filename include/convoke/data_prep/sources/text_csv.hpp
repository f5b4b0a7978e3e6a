#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>

#include "convoke/data_prep/sources/csv_catalogue.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// The column of texts: the one that is named, or one called text, review, sentence, tweet, content, ...
std::optional<std::size_t> find_text_column(const CsvHeader& header, const std::string& given,
                                            const std::filesystem::path& file);

/// True of a .csv or .tsv with a header that has a column of texts.
bool is_text_csv(const std::filesystem::path& path);

/// A CSV of texts and their labels (see find_roles for the other columns), e.g. IMDb's `review,sentiment`.
/// Rows without a text have a fault; texts without a known word are kept, all padding. Bytes that are no
/// UTF-8 are left out, and a note says how many texts have some. Throws Error as list_rows().
std::unique_ptr<Source> open_text_csv(const std::filesystem::path& file, const SourceOptions& options);

}  // namespace convoke::data_prep

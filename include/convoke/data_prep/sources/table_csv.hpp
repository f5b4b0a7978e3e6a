#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True for a .csv or .tsv of at least two columns. Tried after the kinds that need certain columns.
bool is_table_csv(const std::filesystem::path& path, const ReadingOptions& options = {});

/// Opens a CSV whose rows are samples of features (F), see TablePreparation. The label is in a column with a
/// usual name (see find_roles), else in the last column. Features are the named columns, else all columns
/// without another use. A column whose cells are all numbers or missing is numeric; other columns hold
/// categories. A row with an infinite number has a fault; notes give the number of missing cells of each
/// column. Throws Error as list_rows(), and if there is no column left for features.
std::unique_ptr<Source> open_table_csv(const std::filesystem::path& file, const SourceOptions& options);

}  // namespace convoke::data_prep

#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True of a .csv or .tsv of two columns or more. Asked after the kinds that know more of a CSV.
bool is_table_csv(const std::filesystem::path& path);

/// A CSV whose rows are samples of features (F), see TablePreparation. The label stands in a column of a
/// usual name (see find_roles), else in the last. Features are the columns that are named, else all that have
/// no other use; columns whose cells are all numbers or missing are numeric, others name categories. Rows
/// with an infinite number have a fault; notes say how many cells are missing in which columns. Throws Error
/// as list_rows(), and if no column is left for features.
std::unique_ptr<Source> open_table_csv(const std::filesystem::path& file, const SourceOptions& options);

}  // namespace convoke::data_prep

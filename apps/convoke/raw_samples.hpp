#pragma once
#include <string>
#include <vector>

#include "samples_from.hpp"

// Raw texts and rows of tables, prepared as the training samples were: the model file says how.

namespace convoke::app {

/// Texts of the command line. Throws Error if the model takes none, or a text is blank.
std::vector<SampleSource> samples_from_texts(const std::vector<std::string>& texts,
                                             const run::ModelDescription& model);

/// True of .csv, .tsv and .txt files.
bool is_raw_file(const std::string& input);

/// A CSV with the column of texts, or the columns of the table, that the model was trained on, others are
/// passed over; or a .txt of a text in each line. Throws Error naming file and line or column where it does
/// not fit the model.
SampleSource samples_from_raw_file(const std::string& file, const run::ModelDescription& model);

/// Throws Error if texts or rows of a dataset were prepared in another way than those that the model was
/// trained on: with another vocabulary, say.
void require_same_preparation(const run::ModelDescription& model, const data::DatasetInfo& dataset,
                              const std::string& dataset_file);

}  // namespace convoke::app

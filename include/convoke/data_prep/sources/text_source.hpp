#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// A source of texts, wherever they are: `read_text` gives the text of an item, and is asked in ascending
/// order where speed matters. fit() learns the vocabulary (TextPreparation); samples are tokens (L).
/// `column`: of the CSV that the texts come from, else empty. Throws Error for options that cannot be.
std::unique_ptr<Source> make_text_source(Catalogue catalogue, const TextOptions& options, std::string column,
                                         std::function<std::string(std::size_t item)> read_text);

}  // namespace convoke::data_prep

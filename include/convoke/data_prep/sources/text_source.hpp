#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// Makes a source of texts from anywhere. `read_text` returns the text of an item; for speed it is called in
/// ascending order. fit() learns the vocabulary (TextPreparation); samples are tokens (L). `column`: of the
/// CSV that the texts come from, else empty. `reading`: how predict has to read files of texts. Throws Error
/// for invalid options.
std::unique_ptr<Source> make_text_source(Catalog catalog, const TextOptions& options,
                                         const ReadingOptions& reading, std::string column,
                                         std::function<std::string(std::size_t item)> read_text);

}  // namespace convoke::data_prep

#pragma once
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"
#include "sources/named_arrays.hpp"

namespace convoke::data_prep {

/// Opens arrays of samples and labels as a source; sources/numpy.hpp describes which. Throws Error as
/// open_numpy().
std::unique_ptr<Source> open_array_source(std::unique_ptr<const NamedArrays> arrays,
                                          const SourceOptions& options);

}  // namespace convoke::data_prep

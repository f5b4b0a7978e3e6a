#pragma once
#include <string>

namespace convoke::data {

/// True if the provenance of a dataset says that `convoke synthesize` made it.
bool is_synthetic(const std::string& provenance);

/// Returns the note that accompanies every result on synthetic data, with its line end; "" for other data.
std::string provenance_note(const std::string& provenance);

}  // namespace convoke::data

#pragma once
#include <string>

namespace convoke::data {

/// True of what `convoke synthesize` made, by the provenance of its dataset.
bool is_synthetic(const std::string& provenance);

/// The line that stands with every figure of synthetic data, with its end; "" for others.
std::string provenance_note(const std::string& provenance);

}  // namespace convoke::data

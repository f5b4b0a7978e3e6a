#pragma once
#include <string>

namespace convoke::data_prep {

/// Returns the kind of samples ("text", "table", ...) of a preparation (SampleFormat::preparation, as
/// datasets and models store it); empty if it has none. Throws Error beginning with `where` if it is not a
/// JSON object.
std::string preparation_kind(const std::string& preparation, const std::string& where);

/// True if both make the same sample from the same raw text or row; they may differ in the splits of a
/// dataset.
bool prepare_alike(const std::string& a, const std::string& b);

}  // namespace convoke::data_prep

#pragma once
#include <string>

namespace convoke::data_prep {

/// "text", "table", ...: what a preparation (SampleFormat::preparation, as datasets and models keep it) turns
/// into samples; empty if it is empty or does not say. Throws Error beginning with `where` if it is no JSON
/// object.
std::string preparation_kind(const std::string& preparation, const std::string& where);

/// True if both make the same sample of the same raw text or row; how a dataset was divided does not count.
bool prepare_alike(const std::string& a, const std::string& b);

}  // namespace convoke::data_prep

#pragma once
#include <string>

namespace convoke::data_prep {

/// "text", "table", ...: what a preparation (SampleFormat::preparation) turns into samples. Throws Error
/// beginning with `where` if it is no JSON object that says so.
std::string preparation_kind(const std::string& preparation, const std::string& where);

}  // namespace convoke::data_prep

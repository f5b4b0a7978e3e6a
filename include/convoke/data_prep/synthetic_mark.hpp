#pragma once
#include <filesystem>
#include <string>

namespace convoke::data_prep {

/// In a folder that `convoke synthesize` made, the file that says so, in its first line.
inline constexpr const char* kSyntheticMark = "SYNTHETIC.txt";

/// That line, "synthetic, made by ...", of the folder `source`, or of one of the two around it (that of a CSV
/// or a sub-folder); "" if there is none. What a dataset's provenance then begins with.
std::string synthetic_mark(const std::filesystem::path& source);

}  // namespace convoke::data_prep

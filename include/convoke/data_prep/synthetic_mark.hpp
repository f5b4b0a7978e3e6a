#pragma once
#include <filesystem>
#include <string>

namespace convoke::data_prep {

/// The file that marks a folder as made by `convoke synthesize`, in its first line.
inline constexpr const char* kSyntheticMark = "SYNTHETIC.txt";

/// Returns that line, "synthetic, made by ...", of the folder `source` or one of the two enclosing folders
/// (for a CSV or a sub-folder); "" if there is none. The provenance of the dataset begins with it.
std::string synthetic_mark(const std::filesystem::path& source);

}  // namespace convoke::data_prep

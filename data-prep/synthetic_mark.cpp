#include "convoke/data_prep/synthetic_mark.hpp"

#include "files/lines.hpp"

namespace convoke::data_prep {

std::string synthetic_mark(const std::filesystem::path& source) {
  std::filesystem::path folder = std::filesystem::absolute(source).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // the path ends in a slash
  constexpr int kFolders = 3;
  for (int i = 0; i < kFolders; ++i, folder = folder.parent_path()) {
    if (!std::filesystem::is_regular_file(folder / kSyntheticMark)) continue;
    Lines lines(folder / kSyntheticMark);
    std::string line;
    if (lines.next(line) && line.starts_with("synthetic")) return line;
  }
  return {};
}

}  // namespace convoke::data_prep

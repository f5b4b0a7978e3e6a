#include "convoke/data_prep/sources/source.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "convoke/core/csv.hpp"
#include "files/lines.hpp"

namespace convoke::data_prep {

std::string Catalog::class_name(std::int32_t label) const {
  const auto index = static_cast<std::size_t>(label);
  return index < class_names.size() ? class_names[index] : std::to_string(label);
}

std::string with_name(const std::string& name, const std::string& reason) {
  return reason.find(name) == std::string::npos ? name + ": " + reason : reason;
}

bool is_usual_split(std::string_view split) {
  return std::find(kUsualSplits.begin(), kUsualSplits.end(), split) != kUsualSplits.end();
}

std::string canonical_split(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kUsual{{{"training", "train"},
                                                                                 {"valid", "validation"},
                                                                                 {"val", "validation"},
                                                                                 {"dev", "validation"},
                                                                                 {"testing", "test"},
                                                                                 {"eval", "validation"}}};
  const std::string lower = lower_case(name);
  const auto it = std::find_if(kUsual.begin(), kUsual.end(), [&](const auto& u) { return u.first == lower; });
  return it == kUsual.end() ? lower : std::string(it->second);
}

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

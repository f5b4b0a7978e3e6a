#include "convoke/data_prep/source_table.hpp"

#include <fmt/format.h>

#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/data_prep/idx.hpp"

namespace convoke::data_prep {
namespace {

struct Entry {
  std::string_view name;
  bool (*detects)(const std::filesystem::path&);
  std::unique_ptr<Source> (*opens)(const std::filesystem::path&);
};

// Asked in this order.
constexpr std::array kSources{
    Entry{"idx", is_idx, open_idx},
};

}  // namespace

std::unique_ptr<Source> open_source(const std::filesystem::path& path, const std::string& kind) {
  if (!std::filesystem::exists(path)) throw Error(fmt::format("{}: no such file or folder", path.string()));
  if (!kind.empty()) return find_in(kSources, kind, "kind of source").opens(path);
  for (const Entry& source : kSources) {
    if (source.detects(path)) return source.opens(path);
  }
  throw Error(fmt::format("{}: is no source of samples that is known", path.string()),
              "known kinds: " + join(source_kinds()));
}

std::vector<std::string> source_kinds() { return names_in(kSources); }

}  // namespace convoke::data_prep

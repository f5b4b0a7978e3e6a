#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/data_prep/sources/cifar.hpp"
#include "convoke/data_prep/sources/idx.hpp"
#include "convoke/data_prep/sources/image_folder.hpp"
#include "convoke/data_prep/sources/manifest.hpp"
#include "convoke/data_prep/sources/numpy.hpp"
#include "convoke/data_prep/sources/table_csv.hpp"
#include "convoke/data_prep/sources/text_csv.hpp"
#include "convoke/data_prep/sources/text_folder.hpp"
#include "convoke/data_prep/sources/tfrecord.hpp"
#include "convoke/data_prep/sources/webdataset.hpp"

namespace convoke::data_prep {
namespace {

struct Entry {
  std::string_view name;
  bool (*detects)(const std::filesystem::path&);
  std::unique_ptr<Source> (*opens)(const std::filesystem::path&, const SourceOptions&);
};

// Asked in this order.
constexpr std::array kSources{
    Entry{"idx", is_idx, open_idx},
    Entry{"cifar", is_cifar, open_cifar},
    Entry{"numpy", is_numpy, open_numpy},
    Entry{"manifest", is_manifest, open_manifest},
    Entry{"image-folder", is_image_folder, open_image_folder},
    Entry{"tfrecord", is_tfrecord, open_tfrecord},
    Entry{"webdataset", is_webdataset, open_webdataset},
    Entry{"text-folder", is_text_folder, open_text_folder},
    Entry{"text-csv", is_text_csv, open_text_csv},
    Entry{"table", is_table_csv, open_table_csv},
};

// The first kind that recognises `path`; none: nullptr.
const Entry* recognise(const std::filesystem::path& path) {
  const auto it = std::find_if(kSources.begin(), kSources.end(),
                               [&](const Entry& source) { return source.detects(path); });
  return it == kSources.end() ? nullptr : &*it;
}

// Of a CSV with columns that the options name: what they hold tells what it is. Else empty.
std::string kind_by_columns(const std::filesystem::path& path, const ColumnOptions& columns) {
  if (!is_table_csv(path)) return {};
  if (!columns.path.empty()) return "manifest";
  if (!columns.text.empty()) return "text-csv";
  if (!columns.features.empty()) return "table";
  return {};
}

}  // namespace

std::unique_ptr<Source> open_source(const std::filesystem::path& path, const SourceOptions& options,
                                    const std::string& named) {
  if (!std::filesystem::exists(path)) throw Error(fmt::format("{}: no such file or folder", path.string()));
  const std::string kind = named.empty() ? kind_by_columns(path, options.columns) : named;
  if (!kind.empty()) return find_in(kSources, kind, "kind of source").opens(path, options);
  if (const Entry* const source = recognise(path)) return source->opens(path, options);
  throw Error(fmt::format("{}: is no source of samples that is known", path.string()),
              "known kinds: " + join(source_kinds()) + "; --kind names one");
}

bool is_source(const std::filesystem::path& path) {
  return std::filesystem::exists(path) && recognise(path) != nullptr;
}

std::vector<std::string> source_kinds() { return names_in(kSources); }

}  // namespace convoke::data_prep

#include "data/dataset_for.hpp"

#include <fmt/format.h>

#include <span>
#include <system_error>
#include <vector>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/data_prep/files/file_stamp.hpp"
#include "convoke/data_prep/sources/source_table.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/os/environment.hpp"

namespace convoke::app {
namespace {

namespace fs = std::filesystem;

fs::path cache_folder() {
  if (const auto cache = os::variable("XDG_CACHE_HOME")) return fs::path(*cache) / "convoke";
  if (const auto home = os::variable("HOME")) return fs::path(*home) / ".cache/convoke";
  throw Error("neither XDG_CACHE_HOME nor HOME is set, so there is no folder for the cache",
              "set one of them, or make the dataset with `convoke prepare` and name it in data.path");
}

// Samples get the shape of the network's input.
data_prep::SourceOptions sample_options(const recipe::Recipe& recipe) {
  const std::vector<std::int64_t>& input = recipe.model.input;
  data_prep::SourceOptions options;
  if (input.size() == 3) {
    options.picture.channels = input[0];
    options.picture.height = input[1];
    options.picture.width = input[2];
  }
  if (input.size() == 1) options.text.length = input[0];
  return options;
}

// The dataset of `source` for this recipe. A changed source gets another name.
fs::path place_in_cache(const fs::path& source, const recipe::Recipe& recipe) {
  std::vector<fs::path> files = data_prep::files_below(source);
  if (data_prep::is_manifest(source)) {
    const auto opened = data_prep::open_source(source, sample_options(recipe));
    files.insert(files.end(), opened->files().begin(), opened->files().end());
  }
  // 3: how sources are read; another number where that changes.
  std::string identity = fmt::format("3 {} {:08x}", source.string(), data_prep::checksum_of(files));
  for (const std::int64_t extent : recipe.model.input) identity += fmt::format(" {}", extent);
  const std::uint32_t key = crc32(std::as_bytes(std::span(identity)));
  return cache_folder() / "prepared" / fmt::format("{}-{:08x}.h5", source.stem().string(), key);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error(
        fmt::format("{}: cannot be created: {}", folder.string(), error.message()),
        "set XDG_CACHE_HOME to a folder that you may write to, or make the dataset with `convoke prepare` "
        "and name it in data.path");
  }
}

}  // namespace

fs::path dataset_for(const recipe::Recipe& recipe, const mpi::Communicator& world) {
  const fs::path path = fs::absolute(recipe::resolve_dataset(recipe)).lexically_normal();
  const std::string cached = mpi::on_root(world, [&] {
    if (!data_prep::is_source(path)) return std::string();
    const fs::path place = place_in_cache(path, recipe);
    if (!fs::exists(place)) make_folder(place.parent_path());
    return place.string();
  });
  if (cached.empty()) return path;
  const bool is_new = mpi::any_of(world, world.root() && !fs::exists(cached));
  if (world.root()) {
    fmt::print("{}: not a dataset but a source; {} {}\n", path.string(),
               is_new ? "preparing" : "using the prepared", cached);
  }
  if (is_new) prepare_source({.source = path, .output = cached, .samples = sample_options(recipe)}, world);
  return cached;
}

}  // namespace convoke::app

#include "synthesize/synthesize.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string_view name;
  SyntheticData (*make)(SynthesizeOptions);
  bool pictures;  ///< takes the options of pictures
  std::string_view description;
};

constexpr std::array kSyntheticKinds{
    Entry{"io-patterns", make_io_patterns, false,
          "a table of three access patterns as an I/O server sees them"},
    Entry{"reviews", make_reviews, false, "reviews of films, as IMDb (train/pos, ...), and as a table"},
    Entry{"shapes", make_shapes, true, "pictures of shapes, a folder for each class"},
};

void check(const SynthesizeOptions& options, const Entry& entry) {
  if (!(options.difficulty >= 0 && options.difficulty <= 1)) {
    throw Error(fmt::format("--difficulty {}: must be 0 to 1", options.difficulty));
  }
  const auto refuse = [&](const char* option, bool given) {
    if (given && !entry.pictures)
      throw Error(fmt::format("{} {}: this kind does not have the option", entry.name, option),
                  "leave it out");
  };
  refuse("--size", options.height > 0);
  refuse("--classes", options.classes > 0);
  refuse("--channels", options.channels > 0);
}

[[noreturn]] void cannot_write(const fs::path& path, const std::error_code& error) {
  throw Error(fmt::format("{}: cannot be written: {}", path.string(), error.message()));
}

void require_new(const fs::path& output) {
  std::error_code error;
  if (!fs::exists(output, error)) return;
  if (fs::is_directory(output, error) && fs::is_empty(output, error)) return;
  throw Error(fmt::format("{}: exists already", output.string()), "remove it, or choose another --output");
}

// Returns the command that makes the same files again.
std::string mark(const SynthesizeOptions& options) {
  std::string command = fmt::format("convoke synthesize {} --difficulty {} --seed {}", options.kind,
                                    options.difficulty, options.seed);
  if (options.samples > 0) command += fmt::format(" --samples {}", options.samples);
  if (options.height > 0) command += fmt::format(" --size {}x{}", options.height, options.width);
  if (options.classes > 0) command += fmt::format(" --classes {}", options.classes);
  if (options.channels > 0) command += fmt::format(" --channels {}", options.channels);
  return fmt::format(
      "synthetic, made by `{}`\nThese samples are generated.\nSay so if you report results on them.\n",
      command);
}

}  // namespace

void write_text(const fs::path& file, const std::string& text) {
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) cannot_write(file, {errno, std::generic_category()});
}

void require_samples(const SynthesizeOptions& options, std::int64_t needed, const std::string& why) {
  if (options.samples >= needed) return;
  throw Error(fmt::format("--samples {}: too few for a data set: {}", format_count(options.samples), why),
              fmt::format("--samples {}", needed));
}

void synthesize(const SynthesizeOptions& options, const Team& team) {
  // 1. Choose the kind.
  const auto& entry = find_in(kSyntheticKinds, options.kind, "kind of synthetic data");
  check(options, entry);
  const SyntheticData data = entry.make(options);

  // 2. Create the folder under another name until it is complete.
  const fs::path part = options.output.string() + ".part";
  if (team.index == 0) {
    require_new(options.output);
    std::error_code error;
    fs::remove_all(part, error);
    if (!fs::create_directories(part, error)) cannot_write(part, error);
    for (const fs::path& folder : data.folders) {
      if (fs::create_directories(part / folder, error); error) cannot_write(part / folder, error);
    }
  }
  team.barrier();

  // 3. Each process writes its range of the files, in any order.
  const Share mine(data.files, team);
  for (std::int64_t i = mine.first; i < mine.last; ++i) {
    data.write_file(i, part);
    if (options.progress) options.progress(i + 1 - mine.first, mine.size());
  }
  team.barrier();

  // 4. Write the tables and the mark, and rename the folder.
  if (team.index == 0) {
    if (data.write_tables) data.write_tables(part);
    write_text(part / kSyntheticMark, mark(options));
    std::error_code error;
    fs::remove(options.output, error);
    fs::rename(part, options.output, error);
    if (error) cannot_write(options.output, error);
  }
  team.barrier();
}

std::vector<SyntheticKind> synthetic_kinds() {
  std::vector<SyntheticKind> kinds;
  for (const Entry& entry : kSyntheticKinds)
    kinds.push_back({std::string(entry.name), std::string(entry.description)});
  return kinds;
}

}  // namespace convoke::data_prep

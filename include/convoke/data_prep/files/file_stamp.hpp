#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace convoke::data_prep {

/// The size and time of a file. A program that writes the file changes them. A missing file has zeros.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::int64_t written = 0;  ///< the time of the last change, in ns

  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const std::filesystem::path& file);

/// True for what prepare() writes for this output: the dataset, its unfinished file, the folder of its
/// decoded samples and the list of its findings.
bool is_output(const std::filesystem::path& path, const std::filesystem::path& output);

/// Returns the files at any depth of a folder, in linked folders too, without hidden ones and what
/// is_output(); or `path` itself if that is a file.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& path,
                                               const std::filesystem::path& output = {});

/// Returns the CRC-32 of the paths and stamps of files, in any order: another number if one of them was
/// added, removed, renamed or written.
std::uint32_t checksum_of(std::vector<std::filesystem::path> files);

}  // namespace convoke::data_prep

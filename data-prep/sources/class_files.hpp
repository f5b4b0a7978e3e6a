#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

// Sources whose samples are files in a folder for each class, possibly within folders of splits.

namespace convoke::data_prep {

/// A question about a file or folder.
using PathTest = std::function<bool(const std::filesystem::path&)>;

/// Returns the entries of a folder that are not hidden, sorted by the bytes of their names; with `wanted`,
/// only those for which it is true. Throws Error if the folder cannot be listed.
std::vector<std::filesystem::directory_entry> entries_of(const std::filesystem::path& folder,
                                                         const PathTest& wanted = {});

/// A folder of class folders, and its split (canonical); empty: none.
struct SplitFolder {
  std::string split;
  std::filesystem::path folder;
};

/// Throws Error if two folders have the same split, such as val and dev.
void require_different_splits(const std::vector<SplitFolder>& folders);

/// A file, and what the folders around it say.
struct ClassFile {
  std::filesystem::path file;
  std::string name;   ///< path below the source
  std::string split;  ///< canonical; empty: none
  std::int32_t label = 0;
};

/// All files of a source.
struct ClassFiles {
  std::vector<std::string> class_names;  ///< sorted by their bytes
  std::vector<SplitFolder> splits;       ///< folders of splits, or the source itself
  std::vector<ClassFile> files;          ///< split by split, class by class, sorted by their bytes
};

/// True for a folder with a class folder, which `is_class` recognizes, in it or in a split's folder in it.
bool has_class_files(const std::filesystem::path& path, const PathTest& is_class);

/// Lists the files of all class folders that are not hidden and for which `is_sample` is true. Throws Error,
/// with `hint`, for fewer than 2 classes, if a split lacks a class of another split, and if two folders have
/// the same split or two classes the same name. `samples` in messages: "texts".
ClassFiles list_class_files(const std::filesystem::path& folder, const PathTest& is_class,
                            const PathTest& is_sample, const std::string& samples, const std::string& hint);

}  // namespace convoke::data_prep

#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace convoke::archive {

/// An entry of an archive: a text, or the contents of a file.
struct ZipEntry {
  std::string name;
  std::string text = {};
  std::filesystem::path file = {};  ///< if given, instead of `text`
};

/// Writes a zip archive with its entries stored without compression, as Keras writes models (weights do not
/// compress). Equal entries give equal bytes: all times are 1980. Throws Error naming `archive` if it would
/// exceed 4 GiB. Format: PKWARE, APPNOTE.TXT 6.3, sections 4.3.7, 4.3.12 and 4.3.16.
void write_zip(const std::filesystem::path& archive, std::span<const ZipEntry> entries);

}  // namespace convoke::archive

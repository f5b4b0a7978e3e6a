#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

/// Returns all bytes of a file; empty if the file does not exist.
inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Writes a file with these bytes.
inline void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

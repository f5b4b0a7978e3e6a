#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

/// All bytes of a file; none of one that is not there.
inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

#pragma once
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/files.hpp"

/// Returns the bytes of an IDX file: magic number, big-endian extents, values.
inline std::string idx_bytes(std::uint32_t magic, const std::vector<std::int64_t>& extents,
                             const std::vector<std::uint8_t>& values) {
  std::string bytes;
  const auto put = [&](std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xFF);
  };
  put(magic);
  for (const std::int64_t extent : extents) put(static_cast<std::uint32_t>(extent));
  bytes.append(values.begin(), values.end());
  return bytes;
}

inline void write_gzip(const fs::path& file, const std::string& bytes) {
  gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(out);
}

/// Returns the images first, first + 1, ... of a small MNIST: 4 x 5 pixels, all different.
inline std::vector<std::uint8_t> small_images(std::uint32_t count, std::uint32_t first = 0) {
  std::vector<std::uint8_t> values;
  for (std::uint32_t i = 20 * first; i < 20 * (first + count); ++i)
    values.push_back(static_cast<std::uint8_t>(i * 37 % 251));
  return values;
}

inline std::vector<std::uint8_t> small_labels(std::uint32_t count) {
  std::vector<std::uint8_t> values;
  for (std::uint32_t i = 0; i < count; ++i) values.push_back(static_cast<std::uint8_t>(i % 4));
  return values;
}

inline std::string small_image_file(std::uint32_t count, std::uint32_t first = 0) {
  return idx_bytes(0x803, {count, 4, 5}, small_images(count, first));
}
inline std::string small_label_file(std::uint32_t count) {
  return idx_bytes(0x801, {count}, small_labels(count));
}

/// Writes the four files of MNIST with 30 training and 7 test images of 4 classes to a folder.
inline void write_small_mnist(const fs::path& folder, bool gzip) {
  const auto write = gzip ? write_gzip : write_file;
  const std::string end = gzip ? "-ubyte.gz" : "-ubyte";
  write(folder / ("train-images-idx3" + end), small_image_file(30));
  write(folder / ("train-labels-idx1" + end), small_label_file(30));
  write(folder / ("t10k-images-idx3" + end), small_image_file(7, 30));
  write(folder / ("t10k-labels-idx1" + end), small_label_file(7));
}

#pragma once
#include <filesystem>

/// Copies a picture of this folder's files to `place`, whose folders are made.
inline void put_picture(const std::filesystem::path& place, const char* picture = "rgba.png") {
  std::filesystem::create_directories(place.parent_path());
  std::filesystem::copy_file(std::filesystem::path(CONVOKE_TEST_FILES) / "pictures" / picture, place);
}

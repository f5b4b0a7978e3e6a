#pragma once
#include <filesystem>
#include <string>

#include "support/source_path.hpp"

/// Copies a picture of this folder's files to `place`, whose folders are made.
inline void put_picture(const std::filesystem::path& place, const char* picture = "rgba.png") {
  std::filesystem::create_directories(place.parent_path());
  std::filesystem::copy_file(source_path("test/data_prep/files/pictures/" + std::string(picture)), place);
}

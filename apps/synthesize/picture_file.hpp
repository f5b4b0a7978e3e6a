#pragma once
#include <filesystem>

#include "convoke/pictures/image.hpp"

namespace convoke::data_prep {

using pictures::Image;

/// Writes an RGB picture as PNG (".png") or JPEG (any other name), with a comment that says it is synthetic.
/// Throws Error naming the file if it cannot be written.
void write_synthetic_picture(const std::filesystem::path& file, const Image& image);

}  // namespace convoke::data_prep

#pragma once
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace convoke::data_prep {

/// Endings of the pictures that are read.
inline constexpr std::array<std::string_view, 6> kPictureEndings{".png", ".jpeg", ".jpg",
                                                                 ".jpe", ".jfif", ".bmp"};

/// By its name, in upper or lower case: a JPEG, PNG or BMP.
bool is_picture_name(const std::filesystem::path& file);

/// By its name: a picture of a kind that is not read.
bool is_foreign_picture_name(const std::filesystem::path& file);

/// A name of any encoding as UTF-8 on one line, different for different names: bytes that belong to no UTF-8
/// character, control characters and backslashes before an x become \x and two hexadecimal digits.
std::string printable(std::string_view name);

}  // namespace convoke::data_prep

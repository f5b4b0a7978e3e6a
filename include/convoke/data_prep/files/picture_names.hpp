#pragma once
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace convoke::data_prep {

/// Endings of the supported pictures.
inline constexpr std::array<std::string_view, 6> kPictureEndings{".png", ".jpeg", ".jpg",
                                                                 ".jpe", ".jfif", ".bmp"};

/// True if the name is that of a JPEG, PNG or BMP, in upper or lower case.
bool is_picture_name(const std::filesystem::path& file);

/// True if the name is that of a picture in an unsupported format.
bool is_foreign_picture_name(const std::filesystem::path& file);

/// True if the name of a file or folder begins with a dot, as those that macOS adds ("._a.png").
bool is_hidden(const std::filesystem::path& path);

/// Returns a name in any encoding as UTF-8 on one line; different names give different results. Bytes that
/// are not UTF-8, control characters and backslashes before an x become \x and two hexadecimal digits.
std::string printable(std::string_view name);

}  // namespace convoke::data_prep

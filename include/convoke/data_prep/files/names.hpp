#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

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

/// Returns the text with composed letters (NFC, Unicode Standard Annex 15); the text itself if it is not
/// UTF-8.
std::string composed(const std::string& text);

/// Returns two names that look alike but differ in their bytes, because one has composed letters (NFC) and
/// the other letters with separate accents (NFD, as macOS writes them); none if there are no such names.
std::optional<std::pair<std::string, std::string>> find_twins(std::span<const std::string> names);

/// Returns UTF-8 with every character beyond ASCII as its code point: "caf<U+00E9>", "cafe<U+0301>".
std::string spelled(std::string_view name);

/// The sentence for messages: `"caf<U+00E9>" and "cafe<U+0301>" look alike`.
std::string twins_text(const std::pair<std::string, std::string>& twins);

inline constexpr const char* kTwinsHint =
    "write both names in the same way; convmv -f utf8 -t utf8 --nfc -r --notest FOLDER renames files and "
    "folders";

}  // namespace convoke::data_prep

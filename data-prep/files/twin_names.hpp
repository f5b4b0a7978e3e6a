#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace convoke::data_prep {

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

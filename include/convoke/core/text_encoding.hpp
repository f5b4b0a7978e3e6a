#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convoke {

/// How bytes stand for characters.
enum class TextEncoding : std::uint8_t { kUtf8, kUtf16le, kUtf16be, kWindows1252 };

/// "utf-8", "utf-16le", "utf-16be", "windows-1252".
std::string name_of(TextEncoding encoding);
std::vector<std::string> text_encodings();

/// Throws Error listing the names if there is no such encoding.
TextEncoding text_encoding_from(const std::string& name);

/// A text's byte order mark: the encoding it stands for, and its length; 0 bytes if there is none.
struct ByteOrderMark {
  TextEncoding encoding = TextEncoding::kUtf8;
  std::size_t bytes = 0;
};
ByteOrderMark byte_order_mark(std::string_view text);

/// Returns the text as UTF-8. U+FFFD replaces bytes that are not UTF-8, and halves of a UTF-16 pair. The five
/// bytes without a character in Windows-1252 become control characters, as the WHATWG's standard says.
std::string to_utf8(std::string_view bytes, TextEncoding encoding);

/// Finds the encoding of a text that is fed in parts, the first with its byte order mark: that of its byte
/// order mark; UTF-8 if all bytes are UTF-8, or if more characters beyond ASCII are valid UTF-8 than bytes
/// are not; else Windows-1252.
class EncodingDetector {
 public:
  void feed(std::string_view part);

  TextEncoding encoding() const;
  bool marked() const { return mark_.bytes > 0; }                ///< has a byte order mark
  std::uint64_t invalid() const { return invalid_; }             ///< bytes that are not UTF-8
  std::uint64_t zeros() const { return zeros_[0] + zeros_[1]; }  ///< bytes 0, which no text has but UTF-16
  std::uint64_t first_zero_line() const { return zero_line_; }   ///< from 1 on
  /// For a text with zeros and no mark: the UTF-16 that puts them where they are, if more than a quarter of
  /// the bytes are 0; else UTF-8.
  TextEncoding unmarked_utf16() const;

 private:
  void examine(std::string_view text);

  ByteOrderMark mark_;
  std::string rest_;  // of the last part: the begin of a character
  std::uint64_t bytes_ = 0, lines_ = 0, zero_line_ = 0;
  std::array<std::uint64_t, 2> zeros_{};  // at even and odd positions
  std::uint64_t characters_ = 0, invalid_ = 0;
};

/// Throws Error naming the file and the line of the first byte 0, which a text has only in UTF-16. `detector`
/// was fed with the file.
void require_text(const EncodingDetector& detector, TextEncoding encoding, const std::string& file);

/// Returns the encoding of that name, or the detector's if the name is empty or the text has a byte order
/// mark. Throws Error for an unknown name.
TextEncoding chosen_encoding(const EncodingDetector& detector, const std::string& name);

/// Returns a text as UTF-8, without its byte order mark.
std::string decoded_text(std::string_view bytes);

/// Does the same with the bytes of a file in chosen_encoding(). Throws as require_text(), too.
std::string decoded_file(std::string_view bytes, const std::string& encoding, const std::string& file);

}  // namespace convoke

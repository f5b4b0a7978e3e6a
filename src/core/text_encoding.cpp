#include "convoke/core/text_encoding.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"

namespace convoke {
namespace {

constexpr std::array kEncodings{Named<TextEncoding>{"utf-8", TextEncoding::kUtf8},
                                Named<TextEncoding>{"utf-16le", TextEncoding::kUtf16le},
                                Named<TextEncoding>{"utf-16be", TextEncoding::kUtf16be},
                                Named<TextEncoding>{"windows-1252", TextEncoding::kWindows1252}};

// The characters of the bytes 0x80 to 0x9F; the others are those of Latin-1.
// https://encoding.spec.whatwg.org/index-windows-1252.txt
constexpr std::array<char16_t, 32> kWindows1252{
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178};

constexpr char32_t kReplacement = 0xFFFD;

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// A character of UTF-8: the highest bits after a mark of the length, and then six bits in each further byte.
void append(std::string& text, char32_t point) {
  constexpr std::array<char32_t, 4> kMarks{0, 0xC0, 0xE0, 0xF0};
  const std::size_t further = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  text += static_cast<char>(kMarks[further] | point >> (6 * further));
  for (std::size_t left = further; left > 0; --left)
    text += static_cast<char>(0x80 | (point >> (6 * (left - 1)) & 0x3F));
}

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    text += length == 0 ? kReplacementCharacter : bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

std::string from_utf16(std::string_view bytes, bool big_endian) {
  const auto unit = [&](std::size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]),
               second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<char32_t>(big_endian ? first << 8 | second : second << 8 | first);
  };
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    char32_t point = at + 1 < bytes.size() ? unit(at) : kReplacement;
    if (point >= 0xD800 && point < 0xE000) {
      const char32_t low = at + 3 < bytes.size() ? unit(at + 2) : 0;
      const bool pair = point < 0xDC00 && low >= 0xDC00 && low < 0xE000;
      point = pair ? 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00) : kReplacement;
      if (pair) at += 2;
    }
    append(text, point);
  }
  return text;
}

std::string from_windows_1252(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    append(text, byte >= 0x80 && byte < 0xA0 ? kWindows1252[byte - 0x80] : byte);
  }
  return text;
}

}  // namespace

std::string name_of(TextEncoding encoding) { return name_of(kEncodings, encoding); }

std::vector<std::string> text_encodings() { return names_in(kEncodings); }

TextEncoding text_encoding_from(const std::string& name) {
  return find_in(kEncodings, name, "encoding").value;
}

ByteOrderMark byte_order_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) return {TextEncoding::kUtf8, 3};
  if (text.starts_with("\xFF\xFE")) return {TextEncoding::kUtf16le, 2};
  if (text.starts_with("\xFE\xFF")) return {TextEncoding::kUtf16be, 2};
  return {};
}

std::string to_utf8(std::string_view bytes, TextEncoding encoding) {
  const bool big_endian = encoding == TextEncoding::kUtf16be;
  if (big_endian || encoding == TextEncoding::kUtf16le) return from_utf16(bytes, big_endian);
  if (is_ascii(bytes)) return std::string(bytes);
  return encoding == TextEncoding::kWindows1252 ? from_windows_1252(bytes) : valid_utf8(bytes);
}

void EncodingDetector::feed(std::string_view part) {
  constexpr std::size_t kLongestCharacter = 4;
  if (bytes_ == 0 && rest_.size() < kLongestCharacter) {  // the mark may be in several parts
    const std::string begin = rest_ + std::string(part.substr(0, kLongestCharacter));
    mark_ = byte_order_mark(begin);
  }
  std::string joined;
  if (!rest_.empty()) {
    joined = rest_ + std::string(part);
    part = joined;
  }
  // The last bytes may be the begin of a character.
  std::size_t kept = 0;
  for (std::size_t back = 1; back < kLongestCharacter && back <= part.size(); ++back) {
    const auto byte = static_cast<unsigned char>(part[part.size() - back]);
    if (byte < 0x80) break;
    if (byte >= 0xC0) {
      const std::size_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
      if (length > back) kept = back;
      break;
    }
  }
  examine(part.substr(0, part.size() - kept));
  rest_ = std::string(part.substr(part.size() - kept));
}

void EncodingDetector::examine(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    std::size_t length = 1;
    if (byte >= 0x80) {
      length = utf8_length(text.substr(at));
      ++(length == 0 ? invalid_ : characters_);
      length = std::max<std::size_t>(length, 1);
    } else if (byte == '\n') {
      ++lines_;
    } else if (byte == 0) {
      if (zeros() == 0) zero_line_ = lines_ + 1;
      ++zeros_[(bytes_ + at) % 2];
    }
    at += length;
  }
  bytes_ += text.size();
}

TextEncoding EncodingDetector::encoding() const {
  if (marked()) return mark_.encoding;
  const std::uint64_t invalid = invalid_ + rest_.size();
  return invalid == 0 || characters_ > invalid ? TextEncoding::kUtf8 : TextEncoding::kWindows1252;
}

TextEncoding EncodingDetector::unmarked_utf16() const {
  if (4 * zeros() <= bytes_) return TextEncoding::kUtf8;
  return zeros_[1] > zeros_[0] ? TextEncoding::kUtf16le : TextEncoding::kUtf16be;
}

void require_text(const EncodingDetector& detector, TextEncoding encoding, const std::string& file) {
  const bool utf16 = encoding == TextEncoding::kUtf16le || encoding == TextEncoding::kUtf16be;
  if (utf16 || detector.zeros() == 0) return;
  const TextEncoding unmarked = detector.unmarked_utf16();
  throw Error(fmt::format("{}:{}: has a byte 0, which no text has", file, detector.first_zero_line()),
              unmarked == TextEncoding::kUtf8
                  ? "the file is damaged, or is not a text: replace it"
                  : fmt::format("it looks like {0}: store it as UTF-8; convoke prepare can also read it with "
                                "--encoding {0}",
                                name_of(unmarked)));
}

TextEncoding chosen_encoding(const EncodingDetector& detector, const std::string& name) {
  return name.empty() || detector.marked() ? detector.encoding() : text_encoding_from(name);
}

std::string decoded_text(std::string_view bytes) {
  EncodingDetector detector;
  detector.feed(bytes);
  return to_utf8(bytes.substr(byte_order_mark(bytes).bytes), detector.encoding());
}

std::string decoded_file(std::string_view bytes, const std::string& encoding, const std::string& file) {
  EncodingDetector detector;
  detector.feed(bytes);
  const TextEncoding chosen = chosen_encoding(detector, encoding);
  require_text(detector, chosen, file);
  return to_utf8(bytes.substr(byte_order_mark(bytes).bytes), chosen);
}

}  // namespace convoke

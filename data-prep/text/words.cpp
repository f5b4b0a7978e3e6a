#include "convoke/data_prep/text/words.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <span>

#include "convoke/core/keys.hpp"
#include "convoke/data_prep/files/names.hpp"

namespace convoke::data_prep {

namespace {

enum class CharacterRole : std::uint8_t { kLetter, kBlank, kPunctuation, kApostrophe, kMark, kInvalid };

CharacterRole role_of_ascii(unsigned char c) {
  if (c == '\'') return CharacterRole::kApostrophe;
  if (c <= ' ' || c == 0x7F) return CharacterRole::kBlank;
  const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  return letter ? CharacterRole::kLetter : CharacterRole::kPunctuation;
}

constexpr std::array<utf8proc_int32_t, 4> kApostrophes{0x2018, 0x2019, 0x02BC, 0xFF07};

CharacterRole role_of(utf8proc_int32_t character) {
  if (std::find(kApostrophes.begin(), kApostrophes.end(), character) != kApostrophes.end()) {
    return CharacterRole::kApostrophe;
  }
  switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
      return CharacterRole::kBlank;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
    case UTF8PROC_CATEGORY_CF:  // soft hyphens, byte order marks
      return CharacterRole::kPunctuation;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
      return CharacterRole::kMark;
    default:
      return CharacterRole::kLetter;
  }
}

constexpr utf8proc_int32_t kReplacement = 0xFFFD;  // stands for invalid bytes

struct Character {
  utf8proc_int32_t code;
  std::size_t bytes;
  CharacterRole role;
};

// Returns the character at text[at]; an invalid byte is one character.
Character character_at(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {byte, 1, role_of_ascii(byte)};
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                                                  static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  if (bytes <= 0) return {byte, 1, CharacterRole::kInvalid};
  if (code == kReplacement) return {code, static_cast<std::size_t>(bytes), CharacterRole::kInvalid};
  return {code, static_cast<std::size_t>(bytes), role_of(code)};
}

// Returns the length of "<br>", "<br/>" or "<br />", in any case, if the text begins with it; else 0.
std::size_t line_break(std::string_view text) {
  if (text[0] != '<') return 0;
  for (const std::string_view tag : {"<br />", "<br/>", "<br>"}) {
    if (text.size() < tag.size()) continue;
    const bool equal = std::equal(tag.begin(), tag.end(), text.begin(),
                                  [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); });
    if (equal) return tag.size();
  }
  return 0;
}

/// The current word.
class Word {
 public:
  explicit Word(std::vector<std::string>& words) : words_(words) {}

  void add(utf8proc_int32_t character, bool mark = false) {
    if (character < 0x80) {
      word_ += static_cast<char>(character);
    } else {
      std::array<utf8proc_uint8_t, 4> bytes{};
      const utf8proc_ssize_t n = utf8proc_encode_char(character, bytes.data());
      word_.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(n));
    }
    marked_ = marked_ || mark;
  }
  void end() {
    while (!word_.empty() && word_.back() == '\'') word_.pop_back();
    word_.erase(0, word_.find_first_not_of('\''));
    if (!word_.empty()) words_.push_back(marked_ ? composed(word_) : word_);
    word_.clear();
    marked_ = false;
  }

 private:
  std::vector<std::string>& words_;
  std::string word_;
  bool marked_ = false;
};

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  Word word(words);
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t tag = line_break(text.substr(at)); tag > 0) {
      word.end();
      at += tag;
      continue;
    }
    const Character character = character_at(text, at);
    at += character.bytes;
    switch (character.role) {
      case CharacterRole::kBlank:
        word.end();
        break;
      case CharacterRole::kPunctuation:
      case CharacterRole::kInvalid:
        break;
      case CharacterRole::kApostrophe:
        word.add('\'');
        break;
      case CharacterRole::kLetter:
      case CharacterRole::kMark:
        word.add(utf8proc_tolower(character.code), character.role == CharacterRole::kMark);
    }
  }
  word.end();
  return words;
}

std::string without_apostrophes(std::string word) {
  word.erase(std::remove(word.begin(), word.end(), '\''), word.end());
  return word;
}

namespace {

// https://snowballstem.org/algorithms/english/stop.txt, sorted.
constexpr std::array<std::string_view, 174> kEnglish{
    "a",          "about",   "above",     "after",   "again",    "against",   "all",    "am",
    "an",         "and",     "any",       "are",     "aren't",   "as",        "at",     "be",
    "because",    "been",    "before",    "being",   "below",    "between",   "both",   "but",
    "by",         "can't",   "cannot",    "could",   "couldn't", "did",       "didn't", "do",
    "does",       "doesn't", "doing",     "don't",   "down",     "during",    "each",   "few",
    "for",        "from",    "further",   "had",     "hadn't",   "has",       "hasn't", "have",
    "haven't",    "having",  "he",        "he'd",    "he'll",    "he's",      "her",    "here",
    "here's",     "hers",    "herself",   "him",     "himself",  "his",       "how",    "how's",
    "i",          "i'd",     "i'll",      "i'm",     "i've",     "if",        "in",     "into",
    "is",         "isn't",   "it",        "it's",    "its",      "itself",    "let's",  "me",
    "more",       "most",    "mustn't",   "my",      "myself",   "no",        "nor",    "not",
    "of",         "off",     "on",        "once",    "only",     "or",        "other",  "ought",
    "our",        "ours",    "ourselves", "out",     "over",     "own",       "same",   "shan't",
    "she",        "she'd",   "she'll",    "she's",   "should",   "shouldn't", "so",     "some",
    "such",       "than",    "that",      "that's",  "the",      "their",     "theirs", "them",
    "themselves", "then",    "there",     "there's", "these",    "they",      "they'd", "they'll",
    "they're",    "they've", "this",      "those",   "through",  "to",        "too",    "under",
    "until",      "up",      "very",      "was",     "wasn't",   "we",        "we'd",   "we'll",
    "we're",      "we've",   "were",      "weren't", "what",     "what's",    "when",   "when's",
    "where",      "where's", "which",     "while",   "who",      "who's",     "whom",   "why",
    "why's",      "with",    "won't",     "would",   "wouldn't", "you",       "you'd",  "you'll",
    "you're",     "you've",  "your",      "yours",   "yourself", "yourselves"};

// NLTK's English list (nltk.org, corpora/stopwords), the 179 words that it had from 2017 to 2024, sorted.
constexpr std::array<std::string_view, 179> kNltk{
    "a",        "about",     "above",     "after",     "again",    "against",    "ain",     "all",
    "am",       "an",        "and",       "any",       "are",      "aren",       "aren't",  "as",
    "at",       "be",        "because",   "been",      "before",   "being",      "below",   "between",
    "both",     "but",       "by",        "can",       "couldn",   "couldn't",   "d",       "did",
    "didn",     "didn't",    "do",        "does",      "doesn",    "doesn't",    "doing",   "don",
    "don't",    "down",      "during",    "each",      "few",      "for",        "from",    "further",
    "had",      "hadn",      "hadn't",    "has",       "hasn",     "hasn't",     "have",    "haven",
    "haven't",  "having",    "he",        "her",       "here",     "hers",       "herself", "him",
    "himself",  "his",       "how",       "i",         "if",       "in",         "into",    "is",
    "isn",      "isn't",     "it",        "it's",      "its",      "itself",     "just",    "ll",
    "m",        "ma",        "me",        "mightn",    "mightn't", "more",       "most",    "mustn",
    "mustn't",  "my",        "myself",    "needn",     "needn't",  "no",         "nor",     "not",
    "now",      "o",         "of",        "off",       "on",       "once",       "only",    "or",
    "other",    "our",       "ours",      "ourselves", "out",      "over",       "own",     "re",
    "s",        "same",      "shan",      "shan't",    "she",      "she's",      "should",  "should've",
    "shouldn",  "shouldn't", "so",        "some",      "such",     "t",          "than",    "that",
    "that'll",  "the",       "their",     "theirs",    "them",     "themselves", "then",    "there",
    "these",    "they",      "this",      "those",     "through",  "to",         "too",     "under",
    "until",    "up",        "ve",        "very",      "was",      "wasn",       "wasn't",  "we",
    "were",     "weren",     "weren't",   "what",      "when",     "where",      "which",   "while",
    "who",      "whom",      "why",       "will",      "with",     "won",        "won't",   "wouldn",
    "wouldn't", "y",         "you",       "you'd",     "you'll",   "you're",     "you've",  "your",
    "yours",    "yourself",  "yourselves"};

// Each is sorted.
constexpr std::array<Named<std::span<const std::string_view>>, 3> kLists{
    {{"none", {}}, {"english", kEnglish}, {"nltk", kNltk}}};

}  // namespace

StopWords::StopWords(const std::string& name)
    : name_(name), words_(find_in(kLists, name, "list of stop words").value) {}

bool StopWords::contains(std::string_view word) const {
  return std::binary_search(words_.begin(), words_.end(), word);
}

}  // namespace convoke::data_prep

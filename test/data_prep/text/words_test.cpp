#include "convoke/data_prep/text/words.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace convoke::data_prep;
using Words = std::vector<std::string>;

TEST_CASE("words are lower case, without punctuation") {
  CHECK(words_of("One of the BEST films: well-kept, \"well\" acted!") ==
        Words{"one", "of", "the", "best", "films", "wellkept", "well", "acted"});
  CHECK(words_of(" tabs\tand\r\nlines \n") == Words{"tabs", "and", "lines"});
  CHECK(words_of("!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~").empty());
  CHECK(words_of("").empty());
  CHECK(words_of("10/10, 3.5%") == Words{"1010", "35"});
}

TEST_CASE("line breaks of HTML separate words") {
  CHECK(words_of("good.<br /><br />Bad<BR>and<br/>ugly") == Words{"good", "bad", "and", "ugly"});
  CHECK(words_of("a <b and <i>c</i> <br") == Words{"a", "b", "and", "ici", "br"});
}

TEST_CASE("apostrophes stay within words, until they are removed") {
  CHECK(words_of("I don't 'quote' it''s") == Words{"i", "don't", "quote", "it''s"});
  CHECK(words_of("don\xE2\x80\x99t") == Words{"don't"});  // U+2019
  CHECK(words_of("'''").empty());
  CHECK(without_apostrophes("don't") == "dont");
}

TEST_CASE("letters, blanks and punctuation follow Unicode") {
  CHECK(words_of("ÉTÉ Ärger ŁÓDŹ ΑΘΗΝΑ МОСКВА") == Words{"été", "ärger", "łódź", "αθηνα", "москва"});
  CHECK(words_of("«oui»\u00A0non\u2014peut\u2026 \u201Cquoted\u201D ¿qué?") ==
        Words{"oui", "nonpeut", "quoted", "qué"});
  CHECK(words_of("I \U0001F600 it") == Words{"i", "\U0001F600", "it"});
  CHECK(words_of("e\u0301te\u0301") == Words{"été"});                 // combining accents
  CHECK(words_of("\uFEFFword co\u00ADop") == Words{"word", "coop"});  // byte order mark, soft hyphen
}

TEST_CASE("bytes that are not UTF-8 are left out") {
  CHECK(words_of("caf\xE9 don\xD5t \xFF\xFE") == Words{"caf", "dont"});
  CHECK(words_of("cut \xE2\x80") == Words{"cut"});
}

TEST_CASE("stop words equal Snowball's") {
  const StopWords english("english");
  for (const char* word : {"the", "a", "not", "don't", "yourselves", "i"}) CHECK(english.contains(word));
  for (const char* word : {"film", "dont", "well", "ill", "hell", ""}) CHECK_FALSE(english.contains(word));
  CHECK_FALSE(StopWords("none").contains("the"));
  CHECK(error_of([] { StopWords("englich"); }) ==
        "unknown list of stop words \"englich\" (did you mean \"english\"?)");
}

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

// The order is that of nltk.corpus.stopwords.words("english") in nltk_data of 2017 to 2024.
constexpr const char* kNltk =
    "i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself "
    "yourselves he him his himself she she's her hers herself it it's its itself they them their "
    "theirs themselves what which who whom this that that'll these those am is are was were be been "
    "being have has had having do does did doing a an the and but if or because as until while of at "
    "by for with about against between into through during before after above below to from up down "
    "in out on off over under again further then once here there when where why how all any both each "
    "few more most other some such no nor not only own same so than too very s t can will just don "
    "don't should should've now d ll m o re ve y ain aren aren't couldn couldn't didn didn't doesn "
    "doesn't hadn hadn't hasn hasn't haven haven't isn isn't ma mightn mightn't mustn mustn't needn "
    "needn't shan shan't shouldn shouldn't wasn wasn't weren weren't won won't wouldn wouldn't";

TEST_CASE("NLTK's 179 stop words are a list of their own") {
  const Words words = words_of(kNltk);
  CHECK(words.size() == 179);
  const StopWords nltk("nltk");
  for (const std::string& word : words) {
    CAPTURE(word);
    CHECK(nltk.contains(word));
  }
  for (const char* word : {"cannot", "could", "would", "ought", "he'd", "let's", "film"})
    CHECK_FALSE(nltk.contains(word));
}

TEST_CASE("stop words equal Snowball's") {
  const StopWords english("english");
  for (const char* word : {"the", "a", "not", "don't", "yourselves", "i"}) CHECK(english.contains(word));
  for (const char* word : {"film", "dont", "well", "ill", "hell", ""}) CHECK_FALSE(english.contains(word));
  CHECK_FALSE(StopWords("none").contains("the"));
  CHECK(error_of([] { StopWords("englich"); }) ==
        "unknown list of stop words \"englich\" (did you mean \"english\"?)");
}

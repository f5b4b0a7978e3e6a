#include "convoke/data_prep/text/text_preparation.hpp"

#include <nlohmann/json.hpp>

#include "convoke/data_prep/text/words.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/source_path.hpp"

using namespace convoke::data_prep;
using Words = std::vector<std::string>;

namespace {

TextPreparation fitted(const TextOptions& options, const std::vector<std::string>& texts) {
  auto next = texts.begin();
  return TextPreparation::fit(options, "review", [&](std::string& text) {
    if (next == texts.end()) return false;
    text = *next++;
    return true;
  });
}

std::vector<std::int32_t> tokens_of(const TextPreparation& preparation, const std::string& text) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(preparation.length()), -1);
  preparation.encode(text, tokens);
  return tokens;
}

using Tokens = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("vocabulary and tokens equal those of Keras's TextVectorization") {  // files/make_texts.py
  std::ifstream file(source_path("test/data_prep/files/texts.json"));
  const auto golden = nlohmann::json::parse(file);
  const auto texts = golden.at("texts").get<std::vector<std::string>>();
  for (const auto& expected : golden.at("cases")) {
    const TextPreparation preparation =
        fitted({.length = expected.at("length"), .vocabulary = expected.at("limit")}, texts);
    auto vocabulary = expected.at("vocabulary").get<std::vector<std::string>>();
    vocabulary.at(1) = "<unk>";
    CHECK(preparation.vocabulary().words() == vocabulary);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CHECK(tokens_of(preparation, texts[i]) == expected.at("tokens").at(i).get<Tokens>());
    }
  }
}

TEST_CASE("texts are cut and padded at both sides") {
  const std::vector<std::string> texts{"a a a b b c"};  // a 2, b 3, c 4
  TextOptions options{.length = 4};
  CHECK(tokens_of(fitted(options, texts), "a b") == Tokens{2, 3, 0, 0});
  CHECK(tokens_of(fitted(options, texts), "a b c c b") == Tokens{2, 3, 4, 4});
  options.padding = "pre";
  CHECK(tokens_of(fitted(options, texts), "a b") == Tokens{0, 0, 2, 3});
  options.truncating = "pre";
  CHECK(tokens_of(fitted(options, texts), "a b c c b") == Tokens{3, 4, 4, 3});
  CHECK(tokens_of(fitted(options, texts), "nowhere seen") == Tokens{0, 0, 1, 1});
  CHECK(tokens_of(fitted(options, texts), "") == Tokens{0, 0, 0, 0});
}

TEST_CASE("95 % of the texts do not exceed the length") {
  std::vector<std::string> texts;
  std::string text;
  for (int words = 1; words <= 40; ++words) texts.push_back(text += " w");
  CHECK(fitted({}, texts).length() == 38);
  texts.resize(20);
  CHECK(fitted({}, texts).length() == 19);
  CHECK(fitted({}, {"one text of five words"}).length() == 5);
}

TEST_CASE("stop words are not in the vocabulary and do not count in the length") {
  const TextPreparation preparation =
      fitted({.stop_words = "english"}, {"I don't like this film; it's not well made"});
  CHECK(preparation.vocabulary().words() ==
        std::vector<std::string>{"", "<unk>", "well", "made", "like", "film"});
  CHECK(preparation.length() == 4);
  CHECK(tokens_of(preparation, "the film they made") == Tokens{5, 3, 0, 0});
}

TEST_CASE("a preparation is the same after JSON") {
  const TextPreparation before =
      fitted({.length = 3, .vocabulary = 4, .stop_words = "english", .padding = "pre", .truncating = "pre"},
             {"été été the \"hiver\""});
  const TextPreparation after = TextPreparation::from_json(before.to_json(), "model.h5");
  CHECK(before.to_json() ==
        R"({"kind":"text","column":"review","stop_words":"english","padding":"pre","truncating":"pre",)"
        R"("length":3,"vocabulary":["","<unk>","été","hiver"]})");
  CHECK(after.to_json() == before.to_json());
  CHECK(tokens_of(after, "the hiver, un été") == Tokens{3, 1, 2});
}

TEST_CASE("invalid options and preparations are refused") {
  const auto error = [](const TextOptions& options) {
    return error_of([&] { fitted(options, {"a text"}); });
  };
  CHECK_THAT(error({.vocabulary = 2}), Contains("a vocabulary of 2 tokens has no room for a word"));
  CHECK(fitted({.vocabulary = 3}, {"a text"}).vocabulary().size() == 3);
  CHECK_THAT(error({.length = -1}), Contains("a text cannot have -1 tokens"));
  CHECK_THAT(error({.stop_words = "french"}), Contains("unknown list of stop words \"french\""));
  CHECK_THAT(error({.padding = "prev"}),
             Contains("unknown side of padding \"prev\" (did you mean \"pre\"?)"));
  CHECK_THAT(error({.truncating = "left"}), Contains("unknown side of truncating \"left\""));
  CHECK_THAT(error_of([] { fitted({}, {"...", ""}); }), Contains("the training texts have no words"));
  CHECK_THAT(error_of([] { fitted({}, {}); }), Contains("the training texts have no words"));

  const auto broken = [](const std::string& json) {
    return error_of([&] { TextPreparation::from_json(json, "model.h5: preparation"); });
  };
  CHECK_THAT(broken("{"), Contains("model.h5: preparation: is damaged"));
  CHECK_THAT(broken("[1]"), Contains("is damaged"));
  CHECK_THAT(broken(R"({"kind":"table"})"), Contains("prepares samples of kind table, not text"));
  CHECK_THAT(broken(R"({"kind":"text"})"), Contains("is damaged"));
  const std::string good = fitted({}, {"a a b"}).to_json();
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string json = good;
    return json.replace(json.find(from), from.size(), to);
  };
  CHECK_THAT(broken(changed("\"b\"", "\"a\"")), Contains("the word \"a\" is in the vocabulary twice"));
  CHECK_THAT(broken(changed("<unk>", "x")), Contains("must begin with"));
  CHECK_THAT(broken(changed("\"length\":3", "\"length\":99999999999")),
             Contains("cannot have 99999999999 tokens"));
}

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

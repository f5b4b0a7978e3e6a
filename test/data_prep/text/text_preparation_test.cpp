#include "convoke/data_prep/text/text_preparation.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/source_path.hpp"

using namespace convoke::data_prep;

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

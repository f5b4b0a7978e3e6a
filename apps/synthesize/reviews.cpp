#include "synthesize/synthesize.hpp"

#include <fmt/format.h>

#include <cmath>

namespace convoke::data_prep {
namespace {

using Words = std::initializer_list<const char*>;

constexpr Words kAspects{"acting",     "plot",    "script",  "music",   "photography", "dialogue",
                         "ending",     "pacing",  "cast",    "editing", "direction",   "humour",
                         "soundtrack", "opening", "scenery", "finale"};
constexpr Words kPraise{"brilliant",  "wonderful", "moving",     "gripping", "superb",    "clever",
                        "convincing", "charming",  "delightful", "stunning", "memorable", "refreshing"};
constexpr Words kBlame{"dreadful",    "boring",  "clumsy", "dull",   "awful", "tedious",
                       "predictable", "shallow", "bland",  "wooden", "messy", "annoying"};
constexpr Words kDegrees{"", "", "really ", "quite ", "truly ", "simply ", "utterly "};
constexpr Words kPeople{"detective", "widow", "soldier", "teacher", "pianist",
                        "farmer",    "thief", "captain", "nurse"};
constexpr Words kPlaces{"harbour",  "village",         "castle", "desert",
                        "hospital", "railway station", "island", "city"};
constexpr Words kDeeds{
    "looks for a lost brother", "buries a secret",   "runs from the police", "writes letters",
    "paints at night",          "waits for a train", "counts money",         "returns home"};

// {0}: the aspect, {1}: a degree or empty, {2}: praise or blame.
constexpr Words kPlain{"The {0} was {1}{2}.", "I found the {0} {1}{2}.",
                       "For me the {0} seemed {1}{2} throughout.",
                       "Everybody agreed that the {0} felt {1}{2}."};
constexpr Words kNegated{"The {0} was never {1}{2}.", "I found the {0} hardly {1}{2}.",
                         "For me the {0} seemed scarcely {1}{2} throughout.",
                         "Nobody agreed that the {0} felt {1}{2}."};
// {0}: a person, {1}: a place, {2}: praise or blame, {3}: a deed.
constexpr Words kStory{"A {2} {0} from the {1} {3}.", "The film shows a {0} in a {2} {1} who {3}.",
                       "Nobody in the {1} knows that the {2} {0} {3}.",
                       "The {2} {0} never leaves the {1} and {3}.",
                       "There is a {2} {1} where hardly a {0} {3}."};
constexpr Words kOther{"We watched it on a rainy Sunday.",
                       "My sister had bought the tickets.",
                       "It runs for about two hours.",
                       "The cinema was half empty.",
                       "I had read the book years before.",
                       "It was filmed in black and white.",
                       "The director has made three films so far.",
                       "Somebody behind us kept eating popcorn."};

const char* one_of(RandomStream& random, Words words) { return words.begin()[random.below(words.size())]; }

// Returns praise or blame, negated or not, that means `good`; both ways to express it are equally likely.
std::string opinion(RandomStream& random, bool good) {
  const bool praise = random.uniform() < 0.5;
  const char* const form = one_of(random, praise == good ? kPlain : kNegated);
  const char* const aspect = one_of(random, kAspects);
  const char* const degree = one_of(random, kDegrees);
  return fmt::format(fmt::runtime(form), aspect, degree, one_of(random, praise ? kPraise : kBlame));
}

std::string story(RandomStream& random) {
  const char* const form = one_of(random, kStory);
  const char* const person = one_of(random, kPeople);
  const char* const place = one_of(random, kPlaces);
  const char* const word = one_of(random, random.uniform() < 0.5 ? kPraise : kBlame);
  return fmt::format(fmt::runtime(form), person, place, word, one_of(random, kDeeds));
}

struct Review {
  std::string text;
  int stars;  ///< 1 to 4, or 7 to 10
};

Review review(const SynthesizeOptions& options, std::int64_t number, bool good) {
  RandomStream random = random_of(options, number);
  const double d = options.difficulty;
  // Opinions, a minority of which may contradict, and other sentences, in random order.
  const auto opinions = static_cast<int>(5 + random.below(5));
  const int contrary =
      static_cast<int>(random.below(1 + static_cast<std::uint64_t>(std::lround(0.6 * d * opinions / 2))));
  std::vector<std::string> sentences;
  for (int i = 0; i < opinions; ++i) sentences.push_back(opinion(random, (i >= contrary) == good));
  for (auto n = static_cast<int>(1 + random.below(2 + static_cast<std::uint64_t>(std::lround(6 * d)))); n > 0;
       --n) {
    sentences.push_back(story(random));
  }
  for (auto n = static_cast<int>(random.below(4)); n > 0; --n) sentences.emplace_back(one_of(random, kOther));
  for (std::size_t i = sentences.size(); i > 1; --i) std::swap(sentences[i - 1], sentences[random.below(i)]);
  std::string text;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    if (i > 0) text += random.uniform() < 0.15 ? "<br /><br />" : " ";
    text += sentences[i];
  }
  const int strength =
      3 - static_cast<int>(std::lround(3.0 * contrary / opinions)) - static_cast<int>(random.below(2));
  return {text, good ? 7 + strength : 4 - strength};
}

bool is_good(std::int64_t index) { return index % 2 == 0; }

}  // namespace

SyntheticData make_reviews(SynthesizeOptions options) {
  if (options.samples == 0) options.samples = 4000;
  require_samples(options, 4, "reviews need 4: a good and a bad one, both to train and to test");
  SyntheticData data{.folders = {"train/pos", "train/neg", "test/pos", "test/neg"}, .files = options.samples};
  data.write_file = [options](std::int64_t index, const std::filesystem::path& output) {
    const Review made = review(options, index, is_good(index));
    write_text(output / (index % 4 < 2 ? "train" : "test") / (is_good(index) ? "pos" : "neg") /
                   fmt::format("synthetic-{}_{}.txt", index / 4, made.stars),
               made.text);
  };
  data.write_tables = [options](const std::filesystem::path& output) {
    std::string table = "review,sentiment\n";
    for (std::int64_t i = 0; i < options.samples; ++i) {
      table += fmt::format("\"{}\",{}\n", review(options, i, is_good(i)).text,
                           is_good(i) ? "positive" : "negative");
    }
    write_text(output / "synthetic-IMDB-Dataset.csv", table);
  };
  return data;
}

}  // namespace convoke::data_prep

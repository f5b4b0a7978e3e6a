#include "synthesize/synthesize.hpp"

#include <iterator>
#include <numbers>

#include "convoke/data_prep/prepare.hpp"
#include "convoke/pictures/decode.hpp"
#include "data_prep/thread_team.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"
#include "support/text.hpp"

using namespace convoke::data_prep;

namespace {

// Returns the path below the folder and the content of all files.
std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder).string()] = bytes_of(entry.path());
  }
  return files;
}

SynthesizeOptions small(const std::string& kind, const fs::path& output) {
  SynthesizeOptions options{.kind = kind, .output = output, .samples = 40};
  if (kind == "shapes") options.classes = 4, options.height = 20, options.width = 24;
  return options;
}

}  // namespace

TEST_CASE("synthetic data are a pure function of their options, for any number of processes") {
  for (const SyntheticKind& kind : synthetic_kinds()) {
    CAPTURE(kind.name);
    const TemporaryFolder folder;
    synthesize(small(kind.name, folder / "one"));
    const auto expected = files_in(folder / "one");
    CHECK(expected.size() >= 2);
    CHECK_FALSE(fs::exists(folder / "one.part"));

    as_team(3, [&](const Team& member) { synthesize(small(kind.name, folder / "three"), member); });
    CHECK(files_in(folder / "three") == expected);

    // A sample depends on the seed and the difficulty, but not on the number of samples.
    SynthesizeOptions more = small(kind.name, folder / "more");
    more.samples += 4;
    synthesize(more);
    const auto larger = files_in(folder / "more");
    SynthesizeOptions other = small(kind.name, folder / "other");
    other.seed = 2;
    synthesize(other);
    const auto others = files_in(folder / "other");
    std::size_t differ = 0;
    for (const auto& [name, text] : expected) {
      const bool table = fs::path(name).extension() == ".csv" || name == kSyntheticMark;
      if (!table) CHECK(larger.at(name) == text);
      differ += others.count(name) == 0 || others.at(name) != text;
    }
    CHECK(differ == expected.size());
  }
}

TEST_CASE("synthetic data say that they are synthetic, in names, comments and a file") {
  std::vector<SynthesizeOptions> all;
  for (const SyntheticKind& kind : synthetic_kinds()) all.push_back(small(kind.name, {}));
  all.push_back(small("shapes", {}));
  all.back().channels = 1;
  for (SynthesizeOptions& options : all) {
    CAPTURE(options.kind, options.channels);
    const TemporaryFolder folder;
    options.output = folder / "made";
    synthesize(options);
    for (const auto& [name, text] : files_in(folder / "made")) {
      CAPTURE(name);
      const fs::path file(name);
      const bool picture = text.starts_with("\x89PNG") || text.starts_with("\xFF\xD8");
      if (picture) CHECK_THAT(text.substr(0, 120), Contains("synthetic: made by convoke synthesize"));
      if (picture || file.extension() == ".txt") {
        CHECK((name == kSyntheticMark || file.filename().string().starts_with("synthetic-")));
      }
    }
    const auto mark = lines_of(bytes_of(folder / "made" / kSyntheticMark));
    CHECK_THAT(mark.at(0), Contains("synthetic, made by `convoke synthesize " + options.kind));
    CHECK_THAT(mark.at(0), Contains("--samples 40"));
  }
}

TEST_CASE("shapes: any number of classes with different names, of any size, gray or in color") {
  const TemporaryFolder folder;
  for (const std::int64_t channels : {1, 3}) {
    CAPTURE(channels);
    const fs::path output = folder / std::to_string(channels);
    synthesize({.kind = "shapes",
                .output = output,
                .samples = 5 * 60,
                .height = 16,
                .width = 20,
                .classes = 60,
                .channels = channels});
    int classes = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(output)) {
      if (!entry.is_directory()) continue;
      ++classes;
      CHECK(entries_in(entry.path()).size() == 5);
    }
    CHECK(classes == 60);
    const auto encoded = convoke::pictures::read_encoded(
        output / (channels == 1 ? "disc/synthetic-00000.png" : "disc/synthetic-00000.jpg"));
    const auto picture = convoke::pictures::picture_shape(encoded, "disc");
    CHECK(picture.extent == convoke::pictures::PictureSize{16, 20});
    CHECK(picture.channels == channels);
  }
}

TEST_CASE("shapes: the pixels of a picture's form, counted on the picture, are those of its area") {
  // Areas by geometry, relative to the squared radius: a disc pi 0.8^2, a square 1.4^2, a cross of two bars
  // of 1.8 x 0.6, a bar of 1.9 x 0.475.
  const TemporaryFolder folder;
  synthesize({.kind = "shapes",
              .output = folder / "made",
              .samples = 24 * 40,
              .difficulty = 0,
              .height = 64,
              .width = 64,
              .classes = 24,
              .channels = 1});
  std::map<std::string, double> area;
  for (const auto& [name, text] : files_in(folder / "made")) {
    if (fs::path(name).extension() != ".png") continue;
    const auto picture = convoke::pictures::decode_picture(std::as_bytes(std::span(text)), name, 1);
    // The shape is everything that is farther from the corner's brightness than from the other extreme.
    const auto [low, high] = std::minmax_element(picture.values.begin(), picture.values.end());
    const double middle = (*low + *high) / 2.0;
    const bool dark_corner = picture.values.front() < middle;
    area[fs::path(name).parent_path().string()] +=
        static_cast<double>(
            std::count_if(picture.values.begin(), picture.values.end(),
                          [&](std::uint8_t value) { return (value < middle) != dark_corner; })) /
        (64.0 * 64 * 40);
  }
  const double mean_square_radius =
      (0.28 * 0.28 + 0.28 * 0.4 + 0.4 * 0.4) / 3;  // of radii uniform in 0.28 to 0.4
  const auto expected = [&](double unit_area) { return Approx(unit_area * mean_square_radius).epsilon(0.1); };
  CHECK(area.size() == 24);
  CHECK(area["disc"] == expected(std::numbers::pi * 0.64));
  CHECK(area["square"] == expected(1.4 * 1.4));
  CHECK(area["cross"] == expected(2 * 1.8 * 0.6 - 0.6 * 0.6));
  CHECK(area["bar"] == expected(1.9 * 0.475));
}

TEST_CASE("reviews have the layout of IMDb's, and no word is more frequent in good ones") {
  const TemporaryFolder folder;
  synthesize({.kind = "reviews", .output = folder / "reviews", .samples = 2000});
  std::map<std::string, std::map<std::string, int>> counts;  // of each word: pos, neg
  for (const char* split : {"train", "test"}) {
    for (const char* side : {"pos", "neg"}) {
      int files = 0;
      for (const fs::directory_entry& entry : fs::directory_iterator(folder / "reviews" / split / side)) {
        ++files;
        const std::string name = entry.path().stem().string();
        const int stars = std::stoi(name.substr(name.find('_') + 1));
        CHECK((std::string(side) == "pos" ? stars >= 7 && stars <= 10 : stars >= 1 && stars <= 4));
        std::istringstream words(bytes_of(entry.path()));
        for (std::string word; words >> word;) {
          while (!word.empty() && (word.back() == '.' || word.back() == '>')) word.pop_back();
          ++counts[word][side];
        }
      }
      CHECK(files == 500);
    }
  }
  for (auto& [word, sides] : counts) {
    const double n = sides["pos"] + sides["neg"];
    CAPTURE(word, n);
    if (n >= 200) CHECK(std::abs(sides["pos"] - n / 2) < 5 * std::sqrt(n));  // ten standard deviations
  }
  const auto rows = lines_of(bytes_of(folder / "reviews/synthetic-IMDB-Dataset.csv"));
  REQUIRE(rows.size() == 2001);
  CHECK(rows[0] == "review,sentiment");
  CHECK(rows[1].ends_with("\",positive"));
  CHECK(rows[2].ends_with("\",negative"));
}

TEST_CASE("I/O patterns: five features of three patterns satisfy their definitions") {
  const TemporaryFolder folder;
  synthesize({.kind = "io-patterns", .output = folder / "io", .samples = 600});
  const auto rows = lines_of(bytes_of(folder / "io/synthetic-io-patterns.csv"));
  REQUIRE(rows.size() == 601);
  std::map<std::string, int> patterns;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    CAPTURE(rows[i]);
    std::istringstream row(rows[i]);
    double smallest = 0, mean = 0, largest = 0, files = 0, distance = 0;
    char comma = 0;
    std::string label;
    row >> smallest >> comma >> mean >> comma >> largest >> comma >> files >> comma >> distance >> comma >>
        label;
    CHECK((smallest > 0 && smallest <= mean + 0.1 && mean <= largest + 0.1));
    CHECK((largest <= (1 << 20) && files >= 1 && files <= 16));
    // Requests of one process stay within its pending ones; parts of a shared file are far apart.
    if (label == "file-per-process") CHECK(distance < 17 * largest * std::max(1.0, 16 * mean / largest));
    if (label == "shared-contiguous") CHECK(distance > 100 * mean);
    ++patterns[label];
  }
  CHECK(patterns == std::map<std::string, int>{
                        {"file-per-process", 200}, {"shared-contiguous", 200}, {"shared-strided", 200}});
}

TEST_CASE("synthetic data can be prepared, and too few samples are refused at once") {
  for (const SyntheticKind& kind : synthetic_kinds()) {
    CAPTURE(kind.name);
    const TemporaryFolder folder;
    SynthesizeOptions options = small(kind.name, folder / "made");
    if (kind.name == "shapes") options.classes = 2;
    options.samples = 1;
    const std::string error = error_of([&] { synthesize(options); });
    CHECK_THAT(error, Contains("--samples 1: too few for a data set: "));
    CHECK_FALSE(fs::exists(options.output));
    // The number in the message is enough for the command that `convoke synthesize` prints next.
    const std::size_t at = error.find(" need ");
    REQUIRE(at != std::string::npos);
    options.samples = std::stoll(error.substr(at + 6));
    synthesize(options);
    const PrepareReport report =
        prepare({.source = options.output, .output = folder / "made.h5", .allow_duplicates = true});
    CHECK(report.info.classes >= 2);
    CHECK_THAT(report.info.provenance, Contains("synthetic, made by"));
    CHECK(std::all_of(report.splits.begin(), report.splits.end(),
                      [](const auto& split) { return split.samples > 0; }));
  }
  const TemporaryFolder folder;
  CHECK_THAT(error_of([&] { synthesize({.kind = "shapes", .output = folder / "shapes", .samples = 49}); }),
             Contains("10 classes of shapes need 50, five of each"));
}

TEST_CASE("impossible synthetic data are refused, and incomplete ones do not look complete") {
  const TemporaryFolder folder;
  const auto error = [&](SynthesizeOptions options) {
    if (options.output.empty()) options.output = folder / "made";
    return error_of([&] { synthesize(options); });
  };
  CHECK_THAT(error({.kind = "shape"}),
             Contains("unknown kind of synthetic data \"shape\" (did you mean \"shapes\"?)"));
  CHECK_THAT(error({.kind = "shapes", .difficulty = 1.5}), Contains("--difficulty 1.5: must be 0 to 1"));
  CHECK_THAT(error({.kind = "shapes", .difficulty = std::nan("")}), Contains("must be 0 to 1"));
  CHECK_THAT(error({.kind = "shapes", .classes = 1}),
             Contains("--classes 1: shapes have at least 2 classes"));
  CHECK_THAT(error({.kind = "shapes", .channels = 2}),
             Contains("--channels 2: a picture has 1 channel or 3"));
  CHECK_THAT(error({.kind = "io-patterns", .classes = 5}),
             Contains("io-patterns --classes: this kind does not have the option"));
  CHECK_THAT(error({.kind = "reviews", .height = 32, .width = 32}), Contains("reviews --size"));
  CHECK_THAT(error({.kind = "reviews", .channels = 1}), Contains("reviews --channels"));
  CHECK_FALSE(fs::exists(folder / "made"));

  fs::create_directory(folder / "full");
  std::ofstream(folder / "full/mine.txt") << "mine";
  CHECK_THAT(error({.kind = "reviews", .output = folder / "full", .samples = 4}),
             Contains("full: exists already"));
  CHECK(bytes_of(folder / "full/mine.txt") == "mine");
  CHECK_THAT(error({.kind = "reviews", .output = folder / "full/mine.txt/below", .samples = 4}),
             Contains("below.part: cannot be written"));
  // The remains of an interrupted run do not block another one.
  fs::create_directory(folder / "made.part");
  synthesize({.kind = "reviews", .output = folder / "made", .samples = 4});
  CHECK(fs::exists(folder / "made" / kSyntheticMark));
}

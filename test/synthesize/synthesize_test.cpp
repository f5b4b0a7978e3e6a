#include "synthesize/synthesize.hpp"

#include <algorithm>
#include <barrier>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "convoke/data_prep/prepare.hpp"
#include "support/bytes_of.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

using namespace convoke::data_prep;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

// Returns the path below the folder and the content of all files.
std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder).string()] = bytes_of(entry.path());
  }
  return files;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

SynthesizeOptions small(const std::string& kind, const fs::path& output) {
  SynthesizeOptions options{.kind = kind, .output = output, .samples = 40};
  if (kind == "birds") options.classes = 4;
  if (kind == "leaves") options.samples = 50;
  if (kind == "birds" || kind == "leaves" || kind == "fundus") options.height = 20, options.width = 24;
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

    constexpr int kTeam = 3;
    std::barrier all(kTeam);
    std::vector<std::thread> team;
    for (int index = 0; index < kTeam; ++index) {
      team.emplace_back([&, index] {
        Team member{.index = index, .count = kTeam};
        member.barrier = [&] { all.arrive_and_wait(); };
        synthesize(small(kind.name, folder / "three"), member);
      });
    }
    for (std::thread& thread : team) thread.join();
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
    CHECK(differ + 1 >= expected.size());  // only birds.csv is the same
  }
}

TEST_CASE("synthetic data say that they are synthetic, in names, comments and a file") {
  for (const SyntheticKind& kind : synthetic_kinds()) {
    CAPTURE(kind.name);
    const TemporaryFolder folder;
    synthesize(small(kind.name, folder / "made"));
    for (const auto& [name, text] : files_in(folder / "made")) {
      CAPTURE(name);
      const fs::path file(name);
      const bool picture = text.starts_with("\x89PNG") || text.starts_with("\xFF\xD8");
      if (picture)
        CHECK(text.substr(0, 120).find("synthetic: made by convoke synthesize") != std::string::npos);
      if (picture || file.extension() == ".txt") {
        CHECK((name == kSyntheticMark || file.filename().string().starts_with("synthetic-")));
      }
    }
    const auto mark = lines_of(bytes_of(folder / "made" / kSyntheticMark));
    CHECK_THAT(mark.at(0), Contains("synthetic, made by `convoke synthesize " + kind.name));
    CHECK_THAT(mark.at(0), Contains(kind.name == "leaves" ? "--samples 50" : "--samples 40"));
  }
}

TEST_CASE("birds have the layout of BIRDS-525: 525 species with different names") {
  const TemporaryFolder folder;
  synthesize({.kind = "birds",
              .output = folder / "birds",
              .samples = 10 * 21,
              .height = 16,
              .width = 16,
              .classes = 21});
  const auto rows = lines_of(bytes_of(folder / "birds/birds.csv"));
  REQUIRE(rows.size() == 211);
  CHECK(rows[0] == "class id,filepaths,labels,data set,scientific name");
  std::map<std::string, int> splits;
  std::map<std::string, std::set<std::string>> ids;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    std::istringstream row(rows[i]);
    std::string id, path, label, split;
    std::getline(row, id, ',');
    std::getline(row, path, ',');
    std::getline(row, label, ',');
    std::getline(row, split, ',');
    CHECK(fs::is_regular_file(folder / "birds" / path));
    CHECK(path.starts_with(split + "/" + label + "/synthetic-"));
    ids[label].insert(id);
    ++splits[split];
  }
  CHECK(splits == std::map<std::string, int>{{"train", 168}, {"valid", 21}, {"test", 21}});
  CHECK(ids.size() == 21);
  int expected = 0;
  for (const auto& [label, numbers] : ids) CHECK(numbers == std::set{std::to_string(expected++)});  // by name

  synthesize({.kind = "birds", .output = folder / "all", .height = 16, .width = 16});
  CHECK(std::distance(fs::directory_iterator(folder / "all/train"), {}) == 525);
}

TEST_CASE("leaves have the layout of PlantVillage: ten classes, a fifth of the samples to validate") {
  const TemporaryFolder folder;
  synthesize({.kind = "leaves", .output = folder / "leaves", .samples = 100, .height = 16, .width = 16});
  for (const auto& [split, count] : {std::pair("train", 8), {"valid", 2}}) {
    int classes = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / "leaves" / split)) {
      CHECK(entry.path().filename().string().starts_with("Tomato___"));
      CHECK(std::distance(fs::directory_iterator(entry.path()), {}) == count);
      ++classes;
    }
    CHECK(classes == 10);
  }
}

TEST_CASE("retinas have the layout of EyePACS or APTOS, pairs of eyes, and EyePACS's frequencies of grades") {
  const TemporaryFolder folder;
  SynthesizeOptions options{
      .kind = "fundus", .output = folder / "eyepacs", .samples = 600, .height = 16, .width = 16};
  synthesize(options);
  const auto rows = lines_of(bytes_of(folder / "eyepacs/trainLabels.csv"));
  REQUIRE(rows.size() == 601);
  CHECK(rows[0] == "image,level");
  CHECK(rows[1].starts_with("synthetic-10_left,"));
  CHECK(rows[2].starts_with("synthetic-10_right,"));
  std::map<char, int> grades;
  int alike = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    CHECK(fs::is_regular_file(folder / "eyepacs/train" / (rows[i].substr(0, rows[i].find(',')) + ".jpeg")));
    ++grades[rows[i].back()];
    if (i % 2 == 0) alike += rows[i].back() == rows[i - 1].back();
  }
  CHECK(grades.size() == 5);
  // 441 +- 4 standard deviations, for 300 patients whose eyes are correlated.
  CHECK(std::abs(grades['0'] - 441) < 56);
  CHECK(alike > 240);  // the expected number of 300 is 261: 0.7 + 0.3 * (0.735^2 + ...)

  options.output = folder / "aptos";
  options.layout = "aptos";
  options.samples = 10;
  synthesize(options);
  const auto aptos = lines_of(bytes_of(folder / "aptos/train.csv"));
  REQUIRE(aptos.size() == 11);
  CHECK(aptos[0] == "id_code,diagnosis");
  for (std::size_t i = 1; i < aptos.size(); ++i) {
    CHECK(fs::is_regular_file(folder / "aptos/train_images" /
                              (aptos[i].substr(0, aptos[i].find(',')) + ".png")));
  }
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
    if (kind.name == "birds") options.classes = 2;
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
  CHECK_THAT(error_of([&] { synthesize({.kind = "birds", .output = folder / "birds", .samples = 60}); }),
             Contains("525 classes of birds need 5,250, ten of each"));
}

TEST_CASE("impossible synthetic data are refused, and incomplete ones do not look complete") {
  const TemporaryFolder folder;
  const auto error = [&](SynthesizeOptions options) {
    if (options.output.empty()) options.output = folder / "made";
    return error_of([&] { synthesize(options); });
  };
  CHECK_THAT(error({.kind = "bird"}),
             Contains("unknown kind of synthetic data \"bird\" (did you mean \"birds\"?)"));
  CHECK_THAT(error({.kind = "birds", .difficulty = 1.5}), Contains("--difficulty 1.5: must be 0 to 1"));
  CHECK_THAT(error({.kind = "birds", .difficulty = std::nan("")}), Contains("must be 0 to 1"));
  CHECK_THAT(error({.kind = "birds", .classes = 526}), Contains("--classes 526: birds have 2 to 525"));
  CHECK_THAT(error({.kind = "leaves", .classes = 5}),
             Contains("leaves --classes: this kind does not have the option"));
  CHECK_THAT(error({.kind = "reviews", .height = 32, .width = 32}), Contains("reviews --size"));
  CHECK_THAT(error({.kind = "birds", .layout = "aptos"}), Contains("birds --layout"));
  CHECK_THAT(error({.kind = "fundus", .layout = "optos"}), Contains("fundus has no layout \"optos\""));
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

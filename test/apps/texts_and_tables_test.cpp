#include "place.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"

// From a CSV to a label: prepare, train, predict raw texts and rows.

namespace {

const std::vector<std::string> kGood{"good", "lovely", "great", "fine"};
const std::vector<std::string> kBad{"bad", "awful", "dull", "poor"};
const std::vector<std::string> kOther{"film", "the", "a", "plot", "actor", "end", "it's", "was"};

/// Reviews in which one word indicates the sentiment, as a CSV; some with quotes and line ends.
std::string reviews(int count) {
  std::string csv = "review,sentiment\n";
  for (int i = 0; i < count; ++i) {
    convoke::RandomStream random({7, convoke::Purpose::kBench, 0, static_cast<std::uint64_t>(i)});
    const bool good = random.below(2) == 1;
    const auto any = [&](const std::vector<std::string>& words) { return words[random.below(words.size())]; };
    std::string text;
    for (int word = 0; word < 5; ++word) text += any(kOther) + " ";
    text += any(good ? kGood : kBad) + (i % 3 == 0 ? ", \"\"" + any(kOther) + "\"\"!<br />\n" : " ");
    csv += "\"" + text + std::to_string(i) + "\"," + (good ? "positive" : "negative") + "\n";
  }
  return csv;
}

/// Rows in which length and color indicate the species.
std::string flowers(int count) {
  std::string csv = "length,color,weight,species\n";
  for (int i = 0; i < count; ++i) {
    convoke::RandomStream random({8, convoke::Purpose::kBench, 0, static_cast<std::uint64_t>(i)});
    const std::uint64_t species = random.below(3);
    const std::uint64_t length = species == 2 ? 5000 + random.below(900) : 100 + random.below(90);
    csv += (i % 17 == 5 ? "" : std::to_string(length)) + (species == 1 ? ",red," : ",white,") +
           std::to_string(i) +
           (species == 0   ? ",daisy\n"
            : species == 1 ? ",rose\n"
                           : ",lily\n");
  }
  return csv;
}

std::string recipe(const std::string& name, int epochs, const std::string& model) {
  return recipe_of(name, "path = \"" + name + ".h5\"", model,
                   fmt::format("epochs = {}\nbatch = 16\nmicro_batch = 8\n"
                               "optimizer = {{ name = \"adam\", learning_rate = 0.02 }}",
                               epochs));
}

const std::string kTextRecipe = recipe("reviews", 15, R"(input = [8]
layers = [
  { layer = "embedding", vocabulary = 60, units = 8 },
  { layer = "lstm", units = 8, inputs = ["embedding_1", "input"] },
  { layer = "dense", units = 2, activation = "softmax" },
]
)");

const std::string kTableRecipe = recipe("flowers", 25, R"(input = [4]
layers = [
  { layer = "dense", units = 16, activation = "relu" },
  { layer = "dense", units = 3, activation = "softmax" },
]
)");

}  // namespace

TEST_CASE("texts: prepare, train, and predict texts of the command line") {
  const Files here;
  write_file(here / "reviews.csv", reviews(200));
  const std::string prepare = "prepare reviews.csv --vocabulary 60 --length 8 --allow-duplicates --output ";
  for (const int ranks : {1, 3}) {
    here.run(prepare + std::to_string(ranks) + ".h5", ranks).ends(0);
  }
  CHECK(bytes_of(here / "1.h5") == bytes_of(here / "3.h5"));
  fs::rename(here / "1.h5", here / "reviews.h5");

  write_file(here / "recipe.toml", kTextRecipe);
  here.run("train recipe.toml --quiet --output run").ends(0);
  const Outcome typed = here.run("predict run --text 'A GREAT film, the end!' --text 'it was awful.'");
  CAPTURE(typed.text);
  typed.shows("input,index,label,class,p(negative),p(positive)")
      .shows("\"A GREAT film, the end!\",0,1,positive,")
      .shows("it was awful.,0,0,negative,");

  // The same predictions from files, and with two ranks.
  write_file(here / "lines.txt", "A GREAT film, the end!\nit was awful.\n");
  fs::copy_file(here / "lines.txt", here / "LINES.TXT");
  CHECK(here.run("predict run LINES.TXT").says("LINES.TXT,1,0,negative,"));
  write_file(here / "new.csv", "id,Text\n1,\"A GREAT film, the end!\"\n2,it was awful.\n");
  const auto without_names = [](const std::string& csv, const std::string& from) {
    std::string numbers;
    for (std::size_t at = csv.find(from); at != std::string::npos; at = csv.find(from, at + 1)) {
      numbers += csv.substr(at, csv.find('\n', at) - at) + "\n";
    }
    return numbers;
  };
  const Outcome lines = here.run("predict run lines.txt");
  const Outcome rows = here.run("predict run new.csv", 2);
  CHECK(lines.says("lines.txt,1,0,negative,"));
  CHECK(rows.says("new.csv,0,1,positive,"));
  CHECK(without_names(lines.text, ",negative,") == without_names(typed.text, ",negative,"));
  CHECK(without_names(rows.text, ",positive,") == without_names(typed.text, ",positive,"));
  write_file(here / "one.csv", "Review\nA GREAT film, the end!\nit was awful.\n");  // one column
  CHECK(without_names(here.run("predict run one.csv").text, ",positive,") ==
        without_names(typed.text, ",positive,"));
  here.run("predict run reviews.h5 --output labels.csv").ends(0);

  // Invalid input.
  CHECK(here.run("predict run").says("nothing to label"));
  CHECK(here.run("predict run --text ' '").says("the text is empty"));
  write_file(here / "blank.txt", "good\n\nbad\n");
  CHECK(
      here.run("predict run blank.txt").says("blank.txt:2: the line is empty\n  hint: each line is a text"));
  write_file(here / "wide.txt", std::string("g\0o\0o\0d\0\n\0", 10));
  CHECK(here.run("predict run wide.txt").says("wide.txt:1: has a byte 0"));
  write_file(here / "other.csv", "a,b\n1,2\n");
  CHECK(here.run("predict run other.csv").says("other.csv: has no column of texts"));
  write_file(here / "cells.csv", "text,b\n1,2\ngood, but\n1,2,3\n");
  CHECK(here.run("predict run cells.csv").says("cells.csv:4: the row has 3 cells, but the first row has 2"));
  write_file(here / "less.csv", reviews(150));
  REQUIRE(here.run("prepare less.csv --vocabulary 59 --length 8 --allow-duplicates --output less.h5").code ==
          0);
  for (const char* command : {"predict run less.h5", "evaluate run --data less.h5"}) {
    here.refuses(command, "less.h5: the samples were not prepared like those that the model was trained on");
  }
}

TEST_CASE("tables: prepare, train, and predict raw rows") {
  const Files here;
  write_file(here / "flowers.csv", flowers(200));
  const std::string prepare = "prepare flowers.csv --scale yeo-johnson --allow-duplicates --output ";
  for (const int ranks : {1, 3}) {
    here.run(prepare + std::to_string(ranks) + ".h5", ranks).ends(0).once("missing cells: 12 in \"length\"");
  }
  CHECK(bytes_of(here / "1.h5") == bytes_of(here / "3.h5"));
  fs::rename(here / "1.h5", here / "flowers.h5");

  write_file(here / "recipe.toml", kTableRecipe);
  here.run("train recipe.toml --quiet --output run").ends(0);
  write_file(here / "rows.csv",
             "color,note,length,weight\nred,x,120,20\nwhite,x,5500,40\nblue,x,NA,60\nwhite,x,150,90\n");
  here.run("predict run rows.csv", 2)
      .once("column \"color\": 1 of 4 cells have values that the training rows lack, such as \"blue\"")
      .shows("rows.csv,0,2,rose,")
      .shows("rows.csv,1,1,lily,")
      .shows("rows.csv,2,")
      .shows("rows.csv,3,0,daisy,");
  fs::copy_file(here / "rows.csv", here / "ROWS.CSV");
  here.run("predict run ROWS.CSV --output LABELS.CSV").ends(0);
  CHECK(rows_of(here / "LABELS.CSV").size() == 1 + 4);
  write_file(here / "rows.csv.gz", "");
  here.refuses("predict run rows.csv.gz", "rows.csv.gz: is compressed");

  write_file(here / "wrong.csv", "color,lenght,weight\nred,120,3\n");
  CHECK(here.run("predict run wrong.csv")
            .says("wrong.csv: has no column \"length\" (did you mean \"lenght\"?)"));
  write_file(here / "word.csv", "color,length,weight\nred,120,3\nred,long,3\n");
  CHECK(here.run("predict run word.csv").says("word.csv:3: column \"length\": \"long\" is not a number"));
  CHECK(here.run("predict run --text good").says("does not take texts\n  hint: it takes rows of a table"));
}

TEST_CASE("a table in Windows-1252 with an index and decimal commas is predicted as it was trained") {
  const Files here;
  const auto table = [](const std::string& a_umlaut, const std::string& u_umlaut) {
    std::string csv = ";L" + a_umlaut + "nge;Farbe;Art\n";
    const std::vector<std::string> colors{"gr" + a_umlaut + "n", "gr" + u_umlaut + "n", "rot"};
    for (std::size_t i = 0; i < 90; ++i) {
      csv += std::to_string(i) + ";" + std::to_string(i) + "," + std::to_string(i % 7 + 1) + ";" +
             colors[i % 3] + ";art" + std::to_string(i % 3) + "\n";
    }
    return csv;
  };
  write_file(here / "western.csv", table("\xE4", "\xFC"));
  write_file(here / "utf8.csv", table("\u00E4", "\u00FC"));
  here.run("prepare western.csv --dry-run", 2)
      .ends(0)
      .once("windows-1252")
      .shows("\"column_1\", which numbers the rows")
      .shows("dry run: nothing was written");
  here.run("prepare western.csv --output flowers.h5").ends(0);
  CHECK(here.run("inspect flowers.h5").says("windows-1252"));
  write_file(here / "recipe.toml", kTableRecipe);
  here.run("train recipe.toml --quiet --output run").ends(0);
  const Outcome rows = here.run("predict run western.csv");
  INFO(rows.text);
  for (std::size_t i = 0; i < 90; ++i) {
    const std::string n = std::to_string(i), label = std::to_string(i % 3);
    CHECK(rows.says("western.csv," + n + "," + label + ",art" + label + ","));
  }
  rows.once("warning: western.csv: encoding: windows-1252");
  const auto table_of = [](const std::string& text) { return text.substr(text.find("input,index")); };
  CHECK(table_of(substituted(here.run("predict run utf8.csv").text, "utf8\\.csv", "western.csv")) ==
        table_of(rows.text));
}

TEST_CASE("a model that was not trained on texts or tables refuses them") {
  const Place place;
  REQUIRE(place.train("run").code == 0);
  place.run("predict run --text good").ends(1).shows("does not take texts\n  hint: it takes pictures");
  write_file(place / "rows.csv", "a,b\n1,2\n");
  const Outcome rows = place.run("predict run rows.csv").ends(1);
  rows.shows("rows.csv: the model takes neither texts nor rows of tables").shows("it takes pictures");
}

TEST_CASE("sources of texts and tables that cannot be prepared end the run, on every rank") {
  const Files here;
  const auto error = [&](const std::string& csv, const std::string& more) {
    write_file(here / "data.csv", csv);
    const Outcome outcome = here.run("prepare data.csv --output data.h5 " + more, 2);
    INFO(outcome.text);
    CHECK(outcome.code != 0);
    CHECK_FALSE(fs::exists(here / "data.h5"));
    return outcome.text;
  };
  CHECK_THAT(error("text,label\ngood,1\n,0\n", ""), Contains("line 3: has no text"));
  CHECK_THAT(error("text,label\ngood,1\nbad,1\n", ""), Contains("has one class, \"1\""));
  CHECK_THAT(error("text,label\ngood,1\nbad,0\n", "--text-column txt"),
             Contains("has no column \"txt\" (did you mean \"text\"?)"));
  CHECK_THAT(error("a,b\n1,0\n2,1\n", "--scale log"), Contains("unknown scale \"log\""));
}

// `convoke inspect`: its terminal output, the page, and refused input.
#include "apps/place.hpp"
#include "support/catch.hpp"

TEST_CASE("inspect prints counts, statistics and atypical samples, and writes the same page twice") {
  const Place place;
  place.run("inspect data.h5 --sample 100")
      .ends(0)
      .shows("data.h5: images of (8, 8, 1) (uint8), 4 classes")
      .shows("made by a test")
      .shows("imbalance")
      .shows("in a sample of 100:")
      .shows("principal components explain");

  const Outcome page = place.run("inspect data.h5 --html page.html");
  if (page.says("libjs-chart.js")) {  // built without the charts' library
    CHECK(page.code != 0);
    CHECK(!fs::exists(place / "page.html"));
    return;
  }
  CHECK(page.code == 0);
  CHECK(page.says("page.html: "));
  const std::string first = bytes_of(place / "page.html");
  CHECK(first.starts_with("<!DOCTYPE html>"));
  CHECK(first.ends_with("</html>\n"));
  CHECK(place.run("inspect data.h5 --html page.html").code == 0);
  CHECK(bytes_of(place / "page.html") == first);
  CHECK(place.run("inspect data.h5 --html page.html --seed 1").code == 0);
  CHECK(bytes_of(place / "page.html") != first);
}

TEST_CASE("inspect shows the training samples as a recipe augments them") {
  const Place place;
  const Outcome plain = place.run("inspect data.h5 --html page.html --augmented recipe.toml");
  if (plain.says("libjs-chart.js")) return;  // built without the charts' library
  CAPTURE(plain.text);
  CHECK(plain.code == 1);
  CHECK(plain.says("recipe.toml: the recipe does not augment samples"));
  CHECK(!plain.says("imbalance"));  // it ends before the dataset is read
  CHECK(!fs::exists(place / "page.html"));
  place.run("inspect data.h5 --html page.html --augmented none.toml").ends(1).never("imbalance");

  write_file(place / "turned.toml",
             bytes_of(place / "recipe.toml") + "[augment]\nrotation_range = 30\nmixup = 0.2\n");
  place.run("inspect data.h5 --html page.html --augmented turned.toml").ends(0);
  const std::string page = bytes_of(place / "page.html");
  CHECK_THAT(page, Contains("As the network sees them"));
  CHECK_THAT(page, Contains("train 137 ("));  // the last of twelve, spread over 150 samples

  convoke::data::DatasetInfo two_channels;
  two_channels.sample_shape = convoke::Shape{2, 8, 8};
  two_channels.classes = 4;
  auto writer = convoke::data::DatasetWriter::create(place / "two.h5", two_channels, {{"train", 20}});
  writer.write("train", 0, std::vector<std::uint8_t>(20 * 2 * 8 * 8, 9), std::vector<std::int32_t>(20, 1));
  writer.finish();
  place.run("inspect two.h5 --html two.html --augmented turned.toml").ends(0);
}

TEST_CASE("inspect writes figures, and without gnuplot only tables") {
  const Place place;
  const auto count = [&](const fs::path& folder, const fs::path& ending) {
    return std::ranges::count(entries_in(folder), ending,
                              [](const fs::path& file) { return file.extension(); });
  };
  place.run("inspect data.h5 --figures none", "PATH=/nowhere")
      .ends(0)
      .shows("note: charts were not drawn: gnuplot is not installed (Debian package gnuplot-nox)");
  CHECK(count(place / "none", ".tex") > 0);
  CHECK(count(place / "none", ".csv") > count(place / "none", ".tex"));
  CHECK(count(place / "none", ".svg") + count(place / "none", ".pdf") == 0);
  CHECK_THAT(bytes_of(place / "none/classes.tex"), Contains("\\toprule"));
  if (shell("command -v gnuplot").code != 0) return;
  place.run("inspect data.h5 --figures all").ends(0).never("note: no charts");
  CHECK(count(place / "all", ".svg") == count(place / "all", ".csv") - count(place / "all", ".tex"));
  CHECK(count(place / "all", ".pdf") == count(place / "all", ".svg"));
  CHECK(count(place / "all", ".tmp") == 0);
}

TEST_CASE("inspect refuses files that are not datasets and unwritable places, and leaves no files") {
  const Place place;
  place.refuses("inspect none.h5", "none.h5");
  place.refuses("inspect recipe.toml", "recipe.toml");
  place.refuses("inspect data.h5 --sample 0", "--sample");
  fs::copy(place / "data.h5", place / "short.h5");
  fs::resize_file(place / "short.h5", fs::file_size(place / "short.h5") / 2);
  place.refuses("inspect short.h5 --html page.html", "short.h5");
  CHECK(!fs::exists(place / "page.html"));
  place.refuses("inspect data.h5 --figures recipe.toml", "recipe.toml: cannot be created");
  if (place.run("inspect data.h5 --html page.html").says("libjs-chart.js")) return;
  place.refuses("inspect data.h5 --html no/such/folder/page.html",
                "no/such/folder/page.html: cannot be written");
  place.refuses("inspect data.h5 --html .", "is a folder");
  place.refuses("inspect short.h5 --html page.html", "short.h5");
  CHECK(bytes_of(place / "page.html").ends_with("</html>\n"));  // of the earlier run
  CHECK(!fs::exists(place / "page.html.tmp"));
}

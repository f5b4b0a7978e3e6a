#include "convoke/report/dataset_page.hpp"

#include "example_pages.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/skip.hpp"
#include "support/text.hpp"

using namespace convoke;

TEST_CASE("findings name problems to solve before training") {
  const TemporaryFolder folder;
  const explore::Inspection found = example::inspection(example::table(folder.path()));
  const std::vector<std::string> findings = report::findings(found);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0] == "Split test has no samples of 1 of 4 classes: 鳥.");
  CHECK(findings[1] == "1 of the 40 samples of test are also in train.");
  CHECK(report::imbalance(found) == 1);
}

TEST_CASE("a page of encoded pictures shows their sizes") {
  const TemporaryFolder folder;
  explore::Inspection found = example::inspection(example::images(folder.path()));
  const auto pages = [&] { return report::dataset_page(found, "made by a test").html(); };
  CHECK(times(pages(), "Sizes of the encoded pictures") == 0);
  std::vector<float> kilobytes{1.5F, 2, 2, 7};
  found.encoded = explore::Extent{"kB", explore::box_plot(kilobytes), explore::histogram(kilobytes, 4)};
  CHECK_THAT(pages(), Contains(">Sizes of the encoded pictures</h2>") && Contains("kB from"));
}

TEST_CASE("a page of each kind contains its pictures and charts with their tables, and needs no network") {
  if (!report::has_charts()) return skip("Chart.js was not installed when this was built");
  const TemporaryFolder folder;
  for (const auto& [file, charts] : {std::pair(example::images(folder.path()), 9),
                                     {example::texts(folder.path()), 10},
                                     {example::table(folder.path()), 12},
                                     {example::signals(folder.path()), 10}}) {
    CAPTURE(file);
    const explore::Inspection found = example::inspection(file);
    const std::string page = report::dataset_page(found, "made by a test").html();
    const int maps = found.kind() == "images" ? 1 : 0;
    CHECK(times(page, "<canvas ") == charts + maps);
    CHECK(times(page, "<figure class=heat>") == maps);
    CHECK(times(page, "<h3>Normality</h3>") == (found.kind() == "tokens" ? 0 : 1));
    CHECK(times(page, "Reconstruction error</figcaption>") == (found.kind() == "tokens" ? 0 : 1));
    CHECK(times(page, ">Edges and gradients</h2>") == maps);
    CHECK(times(page, "<details>") == charts);
    CHECK((times(page, "<img ") > 0) == (found.kind() == "images"));
    CHECK(times(page, "<img src=\"data:image/") == times(page, "<img "));
    CHECK(times(page, "src=\"http") + times(page, "href=\"http") + times(page, "@import") == 0);
    CHECK_THAT(page, Contains("&lt;b&gt;cat&lt;/b&gt;") && Contains("Stra\xEF\xBF\xBD"
                                                                    "enbahn &amp; &quot;co&quot;"));
    CHECK(times(page, "<b>cat") == 0);
    CHECK(report::dataset_page(example::inspection(file), "made by a test").html() == page);
  }
}

// The guide of layers, and its copy in docs/layers.md.
#include "convoke/nn/layer_table.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/source_path.hpp"

using namespace convoke;
using namespace convoke::nn;

TEST_CASE("docs/layers.md contains the tables that the code prints") {
  std::ifstream file(source_path("docs/layers.md"));
  std::stringstream page;
  page << file.rdbuf();
  INFO("replace the tables between the page's two marks by the output of convoke layers --markdown");
  const std::string text = page.str(), begin = "<!-- layers -->\n", end = "<!-- end of layers -->";
  REQUIRE_THAT(text, Contains(begin));
  const std::size_t from = text.find(begin) + begin.size();
  CHECK(text.substr(from, text.find(end) - from) == layer_reference());
}

TEST_CASE("a terminal lists all layers, and shows one with its keys") {
  const std::string list = list_layers();
  for (const LayerHelp& layer : layer_guide()) CHECK_THAT(list, Contains("  " + layer.name + " "));
  const std::string conv = describe_layer("conv2d");
  CHECK_THAT(conv, Contains("filters           output channels (required)"));
  CHECK_THAT(conv, Contains("(default: \"valid\")"));
  CHECK_THAT(conv, Contains("trainable"));
  CHECK_THAT(error_of([] { describe_layer("conv2b"); }), Contains("did you mean \"conv2d\"?"));
}

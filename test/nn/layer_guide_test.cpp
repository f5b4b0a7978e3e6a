// The guide of layers, and its copy in docs/layers.md.
#include "convoke/nn/layer_table.hpp"

#include <fstream>
#include <sstream>

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
  REQUIRE(text.find(begin) != std::string::npos);
  const std::size_t from = text.find(begin) + begin.size();
  CHECK(text.substr(from, text.find(end) - from) == layer_reference());
}

TEST_CASE("a terminal lists all layers, and shows one with its keys") {
  const std::string list = list_layers();
  for (const LayerHelp& layer : layer_guide()) CHECK(list.find("  " + layer.name + " ") != std::string::npos);
  const std::string conv = describe_layer("conv2d");
  CHECK(conv.find("filters           output channels (required)") != std::string::npos);
  CHECK(conv.find("(default: \"valid\")") != std::string::npos);
  CHECK(conv.find("trainable") != std::string::npos);
  CHECK(error_of([] { describe_layer("conv2b"); }).find("did you mean \"conv2d\"?") != std::string::npos);
}

#include "convoke/interop/model_io.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/source_path.hpp"

TEST_CASE("docs/interop-layers.md lists the operators and layers that the program knows") {
  const std::string page = bytes_of(source_path("docs/interop-layers.md"));
  const std::string mark = "<!-- printed by: convoke info --model-formats -->\n\n";
  INFO("to update it, replace the part below the mark by the output of `convoke info --model-formats`");
  REQUIRE_THAT(page, Contains(mark));
  CHECK(page.substr(page.find(mark) + mark.size()) == convoke::interop::layer_reference());
}

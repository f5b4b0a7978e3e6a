// Writes a page of each kind of dataset, and one of each kind of chart, into the folder that is named: what
// browser_test.cmake looks at.
#include <cstdio>
#include <fstream>

#include "example_charts.hpp"
#include "example_pages.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  for (const auto& file :
       {example::images(folder), example::texts(folder), example::table(folder), example::signals(folder)}) {
    const std::string page =
        convoke::report::dataset_page(example::inspection(file), "made by a test").html();
    std::ofstream(folder / file.stem().replace_extension(".html")) << page;
  }
  std::ofstream(folder / "charts.html") << example::page().html();
  return 0;
}

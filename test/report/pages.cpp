// Writes a page of each kind of dataset, one of each kind of chart, and pages of runs into the folder in the
// argument; browser_test.cmake checks them.
#include <fstream>

#include "convoke/report/comparison.hpp"
#include "convoke/report/run_record.hpp"
#include "convoke/report/study_page.hpp"
#include "example_charts.hpp"
#include "example_pages.hpp"
#include "example_runs.hpp"
#include "example_studies.hpp"

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
  // Three members, names that are not HTML; one model; and an unfinished run.
  example::write_run(folder / "votes", folder / "images.h5", 3, 2, 4.5);
  example::write_run(folder / "one", folder / "images.h5", 1, 1, 8);
  example::write_unfinished(folder / "begun", 1, 1);
  std::vector<convoke::report::RunRecord> runs;
  for (const char* name : {"one", "votes", "begun"}) {
    runs.push_back(convoke::report::read_run(folder / name));
    std::ofstream(folder / (std::string(name) + ".html"))
        << convoke::report::run_page(runs.back(), "made by a test").html();
  }
  convoke::report::RunRecord birds = runs.front();  // a heat map of all classes
  example::set_many_classes(birds, 525);
  std::ofstream(folder / "birds.html") << convoke::report::run_page(birds, "made by a test").html();
  std::ofstream(folder / "comparison.html")
      << convoke::report::comparison_page(runs, "made by a test").html();
  std::ofstream(folder / "study.html")
      << convoke::report::study_page("a study", example::study_of_two_modes(), {}, "made by a test").html();
  return 0;
}

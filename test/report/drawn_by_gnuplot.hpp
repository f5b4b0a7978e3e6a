#pragma once
#include <filesystem>
#include <fstream>
#include <string>

#include "convoke/report/figures.hpp"
#include "support/bytes_of.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"
#include "support/variable.hpp"

/// What gnuplot is told to draw of the chart, by one that only listens.
inline std::string drawn_by_gnuplot(const convoke::report::Chart& chart) {
  const TemporaryFolder place;
  const std::filesystem::path script = place / "script", gnuplot = place / "gnuplot";
  { std::ofstream(gnuplot) << "#!/bin/sh\n/bin/cat > " << script.string() << "; exit 1\n"; }
  std::filesystem::permissions(gnuplot, std::filesystem::perms::owner_all);
  const Variable listening("PATH", place.path().c_str());
  error_of([&] { convoke::report::write_figures({&chart, 1}, {}, place / "out"); });
  const std::string all = bytes_of(script);
  return all.substr(0, all.find("reset session"));  // the SVG's; the PDF's is the same
}

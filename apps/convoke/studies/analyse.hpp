#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace convoke::app {

/// `convoke study analyse`
struct StudyAnalyseOptions {
  std::vector<std::string> tables;
  std::int64_t machine_devices = 0, up_to = 0;
  std::string again, machines, reference, output, deadline, html, figures;
  std::optional<double> accuracy, budget_core_hours;
  double target = 0.05;
  bool json = false;
};

void add_study_analyse(CLI::App& parser, StudyAnalyseOptions& options);
int study_analyse(const StudyAnalyseOptions& options);

}  // namespace convoke::app

#pragma once
#include <span>
#include <string>

#include "convoke/study/tables/measured_configuration.hpp"

namespace convoke::report {

/// Returns short names of a study's configurations and curves for charts: the coordinates in which they
/// differ. A mode that follows from the system is omitted.
class ShortNames {
 public:
  explicit ShortNames(std::span<const study::MeasuredConfiguration> configurations);

  /// Returns "mnist-sync, 4 ranks, 1/2".
  std::string configuration(const study::Coordinates& at) const;
  /// Returns the short name, with "! " before the name of a marked configuration, so that readers can
  /// distinguish it.
  std::string configuration(const study::MeasuredConfiguration& configuration) const {
    return (configuration.marks.empty() ? "" : "! ") + this->configuration(configuration.at);
  }
  /// Returns the name without ranks and threads: "mnist-sync, 1/2".
  std::string curve(const study::Coordinates& at) const;

 private:
  bool systems_ = false, modes_ = false, batches_ = false, variants_ = false, fractions_ = false,
       threads_ = false, machines_ = false;
};

}  // namespace convoke::report

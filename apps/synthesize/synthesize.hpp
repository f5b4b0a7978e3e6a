#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/team.hpp"

namespace convoke::data_prep {

struct SynthesizeOptions {
  std::string kind = {};              ///< "shapes", ...
  std::filesystem::path output = {};  ///< the folder to create
  std::int64_t samples = 0;           ///< 0: the kind's default
  double difficulty = 0.5;            ///< 0 (clean) to 1: how well the differences between classes are hidden
  std::uint64_t seed = 1;
  std::int64_t height = 0, width = 0;  ///< of pictures, pixels; 0: the kind's default
  std::int64_t classes = 0;            ///< of shapes, at least 2; 0: 10
  std::int64_t channels = 0;           ///< of shapes, 1 or 3; 0: 3
  /// Called with files done and to do by this process; may be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

/// Writes the folder `output` with synthetic data. File names begin
/// with "synthetic", pictures have a comment that says so, and the folder has kSyntheticMark with the
/// options. Each sample is a pure function of (options, its number); the processes share the samples. Throws
/// Error for an unknown kind, an option that is out of range or that the kind does not have, or an output
/// that exists and is not empty, or cannot be written; then there is no output.
void synthesize(const SynthesizeOptions& options, const Team& team = {});

/// The kinds of synthetic data: {"shapes", "what it is"}, ... for help texts.
struct SyntheticKind {
  std::string name, description;
};
std::vector<SyntheticKind> synthetic_kinds();

}  // namespace convoke::data_prep

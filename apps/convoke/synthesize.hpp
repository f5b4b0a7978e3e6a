#pragma once
#include <string>

#include "command.hpp"
#include "synthesize/synthesize.hpp"

namespace convoke::app {

struct SynthesizeOptions : data_prep::SynthesizeOptions {
  std::string size;  ///< "HxW"; empty: the kind's own
};

void add_synthesize(CLI::App& parser, SynthesizeOptions& options);

/// Writes a stand-in for a published data set; the ranks share its samples.
int synthesize(const SynthesizeOptions& options);

}  // namespace convoke::app

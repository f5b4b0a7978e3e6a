#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include <string>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/metrics/console.hpp"
#include "convoke/mpi/session.hpp"
#include "synthesize/synthesize.hpp"

namespace convoke::app {
namespace {

struct SynthesizeOptions : data_prep::SynthesizeOptions {
  std::string size;  ///< "HxW"; empty: the kind's own
};

constexpr const char* kSynthesizeHelp = R"(Examples:
  convoke synthesize shapes --output shapes --classes 20 --size 64x64
  convoke synthesize shapes --output gray --channels 1 --samples 2000
  mpirun -n 4 convoke synthesize shapes --output shapes     the same files, made by four ranks
  convoke synthesize reviews --output reviews --difficulty 0.8

Synthetic data says that it is synthetic: in the names of its files, in SYNTHETIC.txt next to them, in every
dataset that convoke prepare makes from it, and with every result of a run on it.
)";

// "224x192": height and width.
void read_size(const std::string& text, std::int64_t& height, std::int64_t& width) {
  const std::size_t x = text.find('x');
  height = parse_number<std::int64_t>(text.substr(0, x)).value_or(0);
  width = x == std::string::npos ? 0 : parse_number<std::int64_t>(text.substr(x + 1)).value_or(0);
  if (height >= 16 && width >= 16 && height <= 4096 && width <= 4096) return;
  throw Error(fmt::format("--size {}: is not a height and width", text),
              "write 224x224; each side 16 to 4096");
}

// Writes synthetic data; the ranks share the samples.
int synthesize(const SynthesizeOptions& options) {
  // 1. The kind and size of the data.
  data_prep::SynthesizeOptions work = options;
  if (!options.size.empty()) read_size(options.size, work.height, work.width);

  // 2. Make it: each rank makes its part of the samples.
  mpi::Session session;
  const mpi::Communicator& world = session.world();
  std::unique_ptr<metrics::Progress> progress;
  work.progress = [&](std::int64_t done, std::int64_t total) {
    if (progress == nullptr)
      progress = std::make_unique<metrics::Progress>("synthesize", total, world.root());
    progress->update(done, {});
  };
  data_prep::synthesize(work, {world.rank(), world.size(), [&world] { world.barrier(); }, {}});
  if (progress != nullptr) progress->finish();

  // 3. Print the location.
  if (world.root()) {
    fmt::print("{}: synthetic {}; next: convoke prepare {} --output FILE\n", work.output.string(), work.kind,
               shell_word(work.output.string()));
  }
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_synthesize(CLI::App& parser) {
  auto options = std::make_shared<SynthesizeOptions>();
  std::string names, kinds = "The kind of data";
  for (const data_prep::SyntheticKind& kind : data_prep::synthetic_kinds()) {
    names += fmt::format("{}{}", names.empty() ? "" : "|", kind.name);
    kinds += fmt::format("\n{}: {}", kind.name, kind.description);
  }
  add_option(parser, "kind", options->kind, names, kinds)->required();
  add_option(parser, "-o,--output", options->output, "FOLDER", "The folder to write")->required();
  add_option(parser, "--samples", options->samples, "N", "Number of samples; by default that of the kind")
      ->check(positive());
  add_option(parser, "--difficulty", options->difficulty, "D",
             "How hard the classes are to tell apart, 0 to 1; 0.5 by default");
  add_option(parser, "--seed", options->seed, "SEED", "Seed; other seeds give other samples; 1 by default");
  add_option(parser, "--size", options->size, "HxW",
             "Height and width of the pictures in pixels; by default those of the kind");
  add_option(parser, "--classes", options->classes, "K",
             "With shapes: number of classes, at least 2; 10 by default")
      ->check(positive());
  add_option(parser, "--channels", options->channels, "1|3",
             "With shapes: 1 (gray) or 3 (color); 3 by default");
  parser.footer(kSynthesizeHelp);
  return [options] { return synthesize(*options); };
}

}  // namespace convoke::app

#include "synthesize.hpp"

#include <fmt/format.h>

#include <charconv>

#include "convoke/core/error.hpp"
#include "convoke/metrics/progress.hpp"
#include "convoke/mpi/session.hpp"

namespace convoke::app {
namespace {

constexpr const char* kSynthesizeExamples = R"(Examples:
  convoke synthesize fundus --output eyes --samples 2000         train/*.jpeg and trainLabels.csv, as EyePACS
  convoke synthesize birds --output birds --classes 20 --size 64x64
  mpirun -n 4 convoke synthesize leaves --output leaves          the same files, made by four ranks
  convoke synthesize reviews --output reviews --difficulty 0.8
What a program has made says so: in the names of its files, in SYNTHETIC.txt beside them, in every dataset that
`convoke prepare` makes of it, and with every figure that a run on it prints.
)";

// "224x192": height and width.
void read_size(const std::string& text, std::int64_t& height, std::int64_t& width) {
  const char* const end = text.data() + text.size();
  const auto [x, bad_height] = std::from_chars(text.data(), end, height);
  if (bad_height == std::errc() && x != end && *x == 'x') {
    const auto [rest, bad_width] = std::from_chars(x + 1, end, width);
    if (bad_width == std::errc() && rest == end && height >= 16 && width >= 16 && height <= 4096 &&
        width <= 4096)
      return;
  }
  throw Error(fmt::format("--size {}: is no height and width", text), "write 224x224; each side 16 to 4096");
}

}  // namespace

void add_synthesize(CLI::App& parser, SynthesizeOptions& options) {
  std::string kinds = "What to make:";
  for (const data_prep::SyntheticKind& kind : data_prep::synthetic_kinds()) {
    kinds += fmt::format("\n  {:<12} {}", kind.name, kind.description);
  }
  parser.add_option("kind", options.kind, kinds)->required()->type_name("KIND");
  parser.add_option("-o,--output", options.output, "The folder to make")->required()->type_name("FOLDER");
  parser.add_option("--samples", options.samples, "How many (default: the kind's own)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  parser
      .add_option("--difficulty", options.difficulty,
                  "How much hides what tells the classes apart, 0 to 1 (default 0.5)")
      ->type_name("D");
  parser.add_option("--seed", options.seed, "Another seed, other samples (default 1)")->type_name("S");
  parser.add_option("--size", options.size, "Of pictures, in pixels (default: the kind's own)")
      ->type_name("HxW");
  parser.add_option("--classes", options.classes, "Of birds: only the first K of the 525")
      ->check(CLI::PositiveNumber)
      ->type_name("K");
  parser.add_option("--layout", options.layout, "Of fundus: eyepacs (default) or aptos")->type_name("NAME");
  parser.footer(kSynthesizeExamples);
}

int synthesize(const SynthesizeOptions& options) {
  // 1. What to make.
  data_prep::SynthesizeOptions work = options;
  if (!options.size.empty()) read_size(options.size, work.height, work.width);

  // 2. Make it: every rank its part of the samples.
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

  // 3. Where it is.
  if (world.root()) {
    fmt::print("{}: synthetic {}, in the layout of the original; next: convoke prepare {} --output FILE\n",
               work.output.string(), work.kind, work.output.string());
  }
  return EXIT_SUCCESS;
}

}  // namespace convoke::app

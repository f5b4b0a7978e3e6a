#include "prepare.hpp"

#include <fmt/format.h>

#include "convoke/core/text.hpp"
#include "convoke/data_prep/prepare.hpp"
#include "convoke/data_prep/source_table.hpp"
#include "convoke/metrics/progress.hpp"
#include "convoke/mpi/session.hpp"

namespace convoke::app {
namespace {

constexpr const char* kExamples = R"(Examples:
  convoke prepare mnist/ --output mnist.h5       the four MNIST files, plain or .gz
  convoke prepare fashion/ --output fashion.h5 --class-names shirt,trouser,pullover,dress,coat,sandal,blouse,sneaker,bag,boot
  mpirun -n 4 convoke prepare mnist/ --output mnist.h5 --overwrite
)";

data_prep::Team team_of(const mpi::Communicator& world) {
  return {world.rank(), world.size(), [&world] { world.barrier(); },
          [&world](std::span<std::uint64_t> numbers) { world.broadcast(std::as_writable_bytes(numbers)); }};
}

void print_report(const data_prep::PrepareReport& report, const std::string& output) {
  fmt::print("{}: samples of {} in {} classes, {}\n", output, report.info.sample_shape.to_string(),
             report.info.classes, format_bytes(report.bytes));
  for (const data::SplitSize& split : report.splits) {
    fmt::print("  {:<12} {:>12} samples\n", split.name, format_count(split.samples));
  }
}

}  // namespace

void add_prepare(CLI::App& parser, PrepareOptions& options) {
  parser.add_option("source", options.source, "Where the samples are: a folder of IDX files")
      ->required()
      ->type_name("SOURCE");
  parser.add_option("-o,--output", options.output, "The dataset file to write")
      ->required()
      ->type_name("FILE");
  parser
      .add_option("--kind", options.kind,
                  "Kind of source, if it cannot be told: " + join(data_prep::source_kinds()))
      ->type_name("KIND");
  parser.add_option("--class-names", options.class_names, "Names of the classes, in the order of the labels")
      ->delimiter(',')
      ->type_name("NAME,...");
  parser.add_flag("--overwrite", options.overwrite, "Replace the output if it exists");
  parser.footer(kExamples);
}

int prepare(const PrepareOptions& options) {
  // 1. Who decodes.
  mpi::Session session;
  const mpi::Communicator& world = session.world();

  // 2. Decode: every rank an equal range of each split, into one file.
  data_prep::PrepareOptions work{.source = options.source,
                                 .output = options.output,
                                 .kind = options.kind,
                                 .overwrite = options.overwrite,
                                 .class_names = options.class_names};
  std::unique_ptr<metrics::Progress> progress;
  work.progress = [&](std::int64_t done, std::int64_t total) {
    if (progress == nullptr) progress = std::make_unique<metrics::Progress>("prepare", total, world.root());
    progress->update(done, {});
  };
  const data_prep::PrepareReport report = data_prep::prepare(work, team_of(world));
  if (progress != nullptr) progress->finish();

  // 3. What there is now.
  if (world.root()) print_report(report, options.output);
  return EXIT_SUCCESS;
}

}  // namespace convoke::app

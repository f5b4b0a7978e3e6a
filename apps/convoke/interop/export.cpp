#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "commands.hpp"
#include "convoke/core/table.hpp"
#include "convoke/interop/model_io.hpp"
#include "convoke/os/atomic_file.hpp"

namespace convoke::app {
namespace {

struct ExportOptions {
  std::string model, format, output;
  ModelReading reading;
  bool raw_input = false;    ///< the file takes samples as the dataset has them
  bool each_member = false;  ///< a file for each member of an ensemble
};

constexpr const char* kExportHelp = R"(Examples:
  convoke export runs/first --format onnx                for onnxruntime, OpenVINO, ...: first.onnx
  convoke export runs/first --format keras               for keras.models.load_model: first.keras
  convoke export model.h5 --format safetensors --output weights.safetensors
  convoke export runs/votes --format onnx                an ensemble as one graph, its mean
  convoke export runs/votes --format onnx --each-member  a file for each member
  convoke export runs/first --format onnx --raw-input    takes pixels of 0..255

docs/interop.md shows how other programs load these files.
)";

// Returns the formats that can do this.
std::vector<interop::FormatHelp> formats_that(bool interop::FormatHelp::*can) {
  std::vector<interop::FormatHelp> formats = interop::formats();
  std::erase_if(formats, [can](const interop::FormatHelp& format) { return !(format.*can); });
  return formats;
}

std::vector<interop::FormatHelp> writable() { return formats_that(&interop::FormatHelp::writes); }

// "runs/first" gives "first.onnx" in the current folder, and "a/model.h5" gives "model.onnx".
std::filesystem::path output_of(const ExportOptions& options) {
  if (!options.output.empty()) return options.output;
  const std::filesystem::path model = std::filesystem::path(options.model + "/").parent_path();
  const std::filesystem::path name = std::filesystem::is_directory(model) ? model.filename() : model.stem();
  return name.string() + find_in(writable(), options.format, "format").extension;
}

// "votes.onnx" gives "votes-002.onnx".
std::filesystem::path for_member(const std::filesystem::path& file, std::int64_t member) {
  std::filesystem::path own = file;
  return own.replace_filename(
      fmt::format("{}-{:03}{}", file.stem().string(), member, file.extension().string()));
}

void print_files(const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& file : files) fmt::print("{}\n", file.string());
}

// Writes a trained model, or an ensemble, in the format of another program.
int export_model(const ExportOptions& options) {
  const std::filesystem::path output = output_of(options);
  const std::filesystem::path model = interop::find_model(options.model);
  os::require_replaceable(output);
  os::require_other_file(output, model);
  interop::Imported imported = interop::read_model(model, options.reading.import);
  interop::declare_outputs(imported, options.reading.outputs);
  const run::ModelSet& models = imported.models;
  const interop::ExportOptions how{.raw_input = options.raw_input};
  if (!options.each_member) {
    print_files(interop::write_model(output, models, options.format, how));
    return EXIT_SUCCESS;
  }
  for (const run::Member& member : models.members)
    os::require_other_file(for_member(output, member.index), model);
  for (const run::Member& member : models.members) {
    const std::filesystem::path file = for_member(output, member.index);
    print_files(interop::write_model(file, {.description = models.description, .members = {member}},
                                     options.format, how));
  }
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_export(CLI::App& parser) {
  auto options = std::make_shared<ExportOptions>();
  add_model(parser, options->model);
  add_model_reading(parser, options->reading);
  add_choice(parser, "--format", options->format, names_in(writable()), "The format to write")->required();
  add_option(parser, "-o,--output", options->output, "FILE",
             "The file to write; the name of the run or model with the format's extension by default");
  parser.add_flag("--raw-input", options->raw_input,
                  fmt::format("Normalize in the first layers ({}), so that the file takes samples as the "
                              "dataset has them",
                              join(names_in(formats_that(&interop::FormatHelp::normalizes)))));
  parser.add_flag("--each-member", options->each_member, "Write a file for each member of an ensemble");
  parser.footer(kExportHelp);
  return [options] { return export_model(*options); };
}

}  // namespace convoke::app

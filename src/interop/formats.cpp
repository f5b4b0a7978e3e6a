#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"
#include "interop/format.hpp"

namespace convoke::interop {
namespace {

// Any other HDF5 file or folder too: load_models() says what is wrong with it.
bool may_be_convoke(const Probe& probe) {
  return std::filesystem::is_directory(probe.file) || probe.beginning.starts_with("\x89HDF\r\n");
}

Imported read_convoke(const std::filesystem::path& file, const ImportOptions&) {
  return {.models = run::load_models(file)};
}

// In the order in which they are asked for their files.
constexpr std::array kFormats{
    Format{.name = "convoke",
           .extension = ".h5",
           .help = "Convoke's own model.h5 and ensemble.h5, or a run folder",
           .recognises = may_be_convoke,
           .read = read_convoke,
           .read_weights = nullptr,
           .write = nullptr},
};

constexpr std::size_t kProbeBytes = 512;

Probe probe_of(const std::filesystem::path& file) {
  Probe probe{.file = file, .beginning = std::string(kProbeBytes, '\0')};
  if (std::filesystem::is_directory(file)) return {.file = file, .beginning = {}};
  const os::File opened(file, os::Access::kRead);
  probe.beginning.resize(opened.read_some_at(0, std::as_writable_bytes(std::span(probe.beginning))));
  return probe;
}

std::string known_formats() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return join(names);
}

const Format& format_of(const std::filesystem::path& file) {
  const Probe probe = probe_of(file);
  const auto format = std::find_if(kFormats.begin(), kFormats.end(),
                                   [&](const Format& candidate) { return candidate.recognises(probe); });
  if (format == kFormats.end()) {
    throw Error(fmt::format("{}: is not a model in a format that Convoke reads", file.string()),
                fmt::format("it reads {}", known_formats()));
  }
  return *format;
}

}  // namespace

Imported read_model(const std::filesystem::path& file, const ImportOptions& options) {
  const Format& format = format_of(file);
  if (format.read == nullptr) {
    throw Error(fmt::format("{}: holds weights without the network", file.string()),
                fmt::format("name the network in a recipe: [model] zoo = \"resnet50\", weights = \"{}\"",
                            file.string()));
  }
  return format.read(file, options);
}

run::InitialWeights read_weights(const std::filesystem::path& file, const nn::Graph& graph,
                                 const std::string& zoo) {
  const Format& format = format_of(file);
  if (format.read_weights != nullptr) return format.read_weights(file, graph, zoo);
  return run::take_weights(format.read(file, {}).models, graph, file.string());
}

void write_model(const std::filesystem::path& file, const run::ModelSet& models, const std::string& name,
                 const ExportOptions& options) {
  const Format& format = find_in(kFormats, name, "format");
  if (format.write == nullptr) {
    throw Error(fmt::format("Convoke does not write the format \"{}\"", name), "choose another --format");
  }
  format.write(file, models, options);
}

std::vector<FormatHelp> formats() {
  std::vector<FormatHelp> list;
  for (const Format& format : kFormats) {
    list.push_back({.name = std::string(format.name),
                    .extension = std::string(format.extension),
                    .help = std::string(format.help),
                    .reads_graph = format.read != nullptr,
                    .reads_weights = format.read_weights != nullptr,
                    .writes = format.write != nullptr});
  }
  return list;
}

}  // namespace convoke::interop

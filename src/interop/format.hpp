#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/interop/model_io.hpp"
#include "interop/tensor.hpp"

namespace convoke::interop {

/// The beginning of a file, by which formats recognize theirs.
struct Probe {
  std::filesystem::path file;
  std::string beginning;  ///< the first bytes, up to 512
};

/// Reads the beginning of `file`; nothing of a folder. Throws Error if there is no such file.
Probe probe_of(const std::filesystem::path& file);

/// A file format. To add one, write a folder with these functions and add one line to
/// src/interop/formats.cpp.
struct Format {
  std::string_view name;
  std::string_view extension;
  std::string_view help;
  bool (*recognizes)(const Probe& probe);
  /// Reads a graph with its weights. Null: the format holds none.
  Imported (*read)(const std::filesystem::path& file, const ImportOptions& options);
  /// Takes the weights that fit `graph`, as interop::read_weights(). Null: as those of the model that `read`
  /// returns.
  run::InitialWeights (*read_weights)(const std::filesystem::path& file, const nn::Graph& graph,
                                      const WeightOptions& options);
  /// Writes a model and returns the written files. Null: the format is only read.
  std::vector<std::filesystem::path> (*write)(const std::filesystem::path& file, const run::ModelSet& models,
                                              const ExportOptions& options);
};

}  // namespace convoke::interop

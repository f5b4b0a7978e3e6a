#pragma once
#include <fstream>
#include <string>

#include "convoke/study/running/study_file.hpp"
#include "support/files.hpp"

/// A recipe with steps of 32 samples in 4 micro-batches.
inline constexpr const char* kTinyRecipe = R"(
[data]
path = "data.h5"
[model]
input = [1, 8, 8]
layers = [{ layer = "flatten" }, { layer = "dense", units = 4, activation = "softmax" }]
[train]
batch = 32
micro_batch = 8
)";

/// A folder with this recipe, and studies of it.
struct TinyStudies {
  TemporaryFolder folder;
  TinyStudies() { write("tiny.toml", kTinyRecipe); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder / name) << text; }
  convoke::study::StudyFile parse(const std::string& more) const {
    return convoke::study::StudyFile::parse("recipe = \"tiny.toml\"\n" + more, (folder / "s.toml").string());
  }
};

#pragma once

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

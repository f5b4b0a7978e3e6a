#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "convoke/data_prep/files/npy.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True if `path` is an .npz file, or a folder with a .npy file whose name says that it holds samples or
/// labels.
bool is_numpy(const std::filesystem::path& path);

/// Arrays of NumPy, the members of an .npz archive or the .npy files of a folder. A name is a word for
/// samples (x, images, data, features, tokens, ...) or labels (y, labels, targets, ...) and, before or behind
/// it, a split: x_train and y_train, test_images and test_labels, images and labels. What bears other names
/// is passed over.
///
/// Samples: images uint8 (N, H, W), (N, H, W, C); features float (N, F) or uint8 (N, F); sequences float
/// (N, L, F); images of measured numbers float (N, H, W, C); tokens int32 or int64 (N, L). float64 becomes
/// float32, int64 int32. Labels: whole numbers (N) or (N, 1), or one-hot (N, K). Throws Error naming file and
/// array: damaged, Python objects, another type or shape, samples without labels or as many of them, several
/// arrays that could be the same, fewer than 2 classes. A label or a token that cannot be is its item's
/// fault.
std::unique_ptr<Source> open_numpy(const std::filesystem::path& path, const SourceOptions& options);

/// The samples of `split` in an .npz archive, without labels: the array that is called so, else the only one
/// of samples, else the only one. Throws Error naming the arrays if there is none such, or it is damaged.
NpyArray read_samples(const std::filesystem::path& npz, const std::string& split);

}  // namespace convoke::data_prep

#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "convoke/data_prep/files/npy.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True for a file with a usual ending of HDF5 (.h5, .hdf5, .hdf, .mat).
bool has_hdf5_ending(const std::filesystem::path& path);

/// True for an HDF5 file with such an ending that is neither a dataset nor a model of Convoke or Keras.
bool is_hdf5_arrays(const std::filesystem::path& path);

/// Opens arrays of an HDF5 file, as h5py or MATLAB (-v7.3) write it, by the rules of open_numpy(). Names are
/// paths: groups may be splits ("train/images"). Numbers of any width are converted; texts may be labels.
///
/// MATLAB stores its arrays with reversed axes; they are read as MATLAB shows them. The samples are the axis
/// that has as many elements as there are labels: the first axis of (N, F), the last one of (H, W, C, N) and
/// (H, W, N), or what options.arrays.axes says. Labels of MATLAB that begin at 1 become classes named "1",
/// "2", .... Throws Error as open_numpy(), and if the file is a dataset or a model.
std::unique_ptr<Source> open_hdf5_arrays(const std::filesystem::path& file, const SourceOptions& options);

/// Opens the samples of `split`, which need not have labels, by the same rules: the array with that name,
/// else the only array of samples, else the only array. Without labels, samples of MATLAB are the first axis
/// of (N, F), and the last one of pictures. `axes`: as ArrayOptions, of which only N counts here. Throws
/// Error as open_hdf5_arrays(), or naming the arrays.
std::shared_ptr<SampleArray> open_hdf5_samples(const std::filesystem::path& file, const std::string& split,
                                               const std::string& axes = {});

}  // namespace convoke::data_prep

#pragma once
#include "convoke/data_prep/files/npy.hpp"
#include "convoke/hdf5/foreign_array.hpp"

namespace convoke::data_prep {

/// True if MATLAB wrote the array; its axes are then reversed in the file.
bool is_matlab(const hdf5::Object& array);

/// An array of an HDF5 file that is read sample by sample, with any axis for the samples. Its shape has the
/// samples first, then the other axes in their order. One block of samples is held in memory.
class Hdf5Array final : public SampleArray {
 public:
  /// `sample_axis`: of the array as its program shows it. Throws Error if the array does not hold numbers.
  Hdf5Array(hdf5::ForeignArray array, std::size_t sample_axis);

  void read(std::uint64_t first, NpyValues& values) override;

 private:
  void load(std::int64_t first);

  hdf5::ForeignArray array_;
  std::size_t stored_axis_;           // of the samples, in the file
  std::vector<std::size_t> strides_;  // in a block, of the axes of shape_
  std::int64_t block_samples_ = 1;
  std::int64_t block_first_ = 0, block_count_ = 0;
  NpyValues block_;  // as stored
};

/// Returns the extents of an array as its program shows it.
Shape shown_shape(const hdf5::ForeignArray& array);

}  // namespace convoke::data_prep

#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "convoke/explore/vectors.hpp"

namespace convoke::explore {

/// Returns an image (h, w, C) as gray: the mean of its channels, (h, w).
Matrix gray(const Shape& shape, std::span<const double> values);

/// Returns the strength of the edges of a gray image (h, w): the length of the gradient by Sobel's operator,
/// with the border repeated. I. Sobel, G. Feldman, "A 3x3 isotropic gradient operator for image processing",
/// 1968; scipy.ndimage.sobel along both axes, mode "nearest".
Matrix sobel(const Matrix& image);

/// Histograms of oriented gradients of a gray image.
struct Hog {
  static constexpr std::int64_t kOrientations = 9;  ///< of 20 degrees each, without a sign
  std::int64_t cell = 8;                            ///< side of a cell, in pixels
  std::int64_t rows = 0, columns = 0;  ///< of cells; pixels beyond the last whole cell do not count
  std::vector<double> cells = {};      ///< (rows, columns, kOrientations): mean gradient of each orientation
};

/// Computes them with cells of `cell` x `cell` pixels. N. Dalal, B. Triggs, "Histograms of oriented gradients
/// for human detection", CVPR 2005. As scikit-image's hog, each gradient counts for one orientation and one
/// cell; the cells are not normalized in blocks.
Hog hog(const Matrix& image, std::int64_t cell);

}  // namespace convoke::explore

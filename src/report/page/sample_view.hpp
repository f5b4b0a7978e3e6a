#pragma once
#include <functional>
#include <span>
#include <string>

#include "convoke/data/samples.hpp"
#include "convoke/explore/exhibit.hpp"
#include "convoke/explore/names.hpp"
#include "convoke/report/picture.hpp"

// Samples on a page: pictures, or their first words or numbers.

namespace convoke::report {

/// An image of (h, w, C) values: the first channel, or the first three if there are three or more. `level`
/// maps a value of a channel to [0, 255]; results beyond are clipped.
Picture picture_of(const Shape& shape, std::span<const double> values,
                   const std::function<double(double value, std::size_t channel)>& level);

/// The picture of one image sample: bytes unchanged, real numbers scaled from the least to the largest of
/// their channel in this sample.
Picture picture_of(const explore::Exhibit& exhibit, data::SampleType type);

/// Pixels of the page per pixel, so that the longer side of a picture has about `side` pixels.
double scale_to(const Picture& picture, double side);

/// The word of a token, or "#12".
std::string word_of(std::int32_t token, const explore::Names& names);
/// The first words of a text, or the first numbers.
std::string excerpt_of(const explore::Exhibit& exhibit, bool tokens, const explore::Names& names);

}  // namespace convoke::report

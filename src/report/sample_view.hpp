#pragma once
#include <functional>
#include <span>
#include <string>

#include "convoke/data/samples.hpp"
#include "convoke/explore/exhibit.hpp"
#include "convoke/explore/names.hpp"
#include "convoke/report/picture.hpp"

// How a sample is shown: as a picture, or by its first words or numbers.

namespace convoke::report {

/// An image of (h, w, C) values: the first channel, or the first three if there are as many. `level`: what a
/// value of a channel is in [0, 255]; beyond that it is cut off.
Picture picture_of(const Shape& shape, std::span<const double> values,
                   const std::function<double(double value, std::size_t channel)>& level);

/// A sample that is an image, by itself: bytes as they are, measured numbers from the least to the largest of
/// their channel in it.
Picture picture_of(const explore::Exhibit& exhibit, data::SampleType type);

/// Pixels of the page per pixel, so that a picture is `side` pixels large or somewhat more.
double scale_to(const Picture& picture, double side);

/// The word of a token, or "#12".
std::string word_of(std::int32_t token, const explore::Names& names);
/// The first words of a text, or the first numbers.
std::string excerpt_of(const explore::Exhibit& exhibit, bool tokens, const explore::Names& names);

}  // namespace convoke::report

#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "convoke/data/samples.hpp"
#include "convoke/explore/sample.hpp"
#include "convoke/report/picture.hpp"

// Shows samples on a page: as pictures, or by their first words or numbers.

namespace convoke::report {

/// Returns an image of (h, w, C) values: the first channel, or the first three if there are three or more.
/// `level` maps a value of a channel to [0, 255]; results outside are clipped.
Picture picture_of(const Shape& shape, std::span<const double> values,
                   const std::function<double(double value, std::size_t channel)>& level);

/// Returns the level of a value: 0 for the least one, 255 for the largest one; 128 if all are equal.
double level_between(double least, double largest, double value);

/// Returns the picture of one image sample: bytes unchanged, real numbers scaled from the minimum to the
/// maximum of their channel in this sample.
Picture picture_of(const explore::Sample& sample, data::SampleType type);

/// Returns pictures of one size in a row. The longer side of each has about `side` pixels of the page.
Figure row_of(const std::vector<Picture>& pictures, const std::string& caption, double side);

/// Returns the word of a token, or "#12".
std::string word_of(std::int32_t token, const explore::Names& names);
/// Returns the first words of a text, or the first numbers.
std::string excerpt_of(const explore::Sample& sample, bool tokens, const explore::Names& names);

}  // namespace convoke::report

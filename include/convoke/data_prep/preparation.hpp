#pragma once
#include <string>

#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// Returns the kind of samples ("text", "table", ...) of a preparation (SampleFormat::preparation, as
/// datasets and models store it); empty if it has none. Throws Error beginning with `where` if it is not a
/// JSON object.
std::string preparation_kind(const std::string& preparation, const std::string& where);

/// True if both make the same sample from the same raw text or row; they may differ in the splits of a
/// dataset, and in how its files are read.
bool prepare_alike(const std::string& a, const std::string& b);

/// Returns `preparation`, a JSON object, with the options that predict needs to read texts and tables.
std::string with_reading(const std::string& preparation, const ReadingOptions& reading);

/// Returns these options; none if the preparation has none. Throws Error, beginning with `where`, if they are
/// damaged.
ReadingOptions reading_in(const std::string& preparation, const std::string& where);

/// Returns the preparation of samples from arrays whose axes an option names (ArrayOptions::axes).
std::string preparation_of_axes(const std::string& axes);

/// Returns these axes; empty if the preparation has none. Throws Error as preparation_kind().
std::string axes_in(const std::string& preparation, const std::string& where);

}  // namespace convoke::data_prep

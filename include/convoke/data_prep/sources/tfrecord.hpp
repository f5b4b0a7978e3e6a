#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True if `path` is a TFRecord file, or a folder with one at any depth. Its name is *.tfrec*, with or
/// without .gz, or *-of-*, and it begins as a TFRecord file.
bool is_tfrecord(const std::filesystem::path& path);

/// Opens TFRecords of tf.train.Examples with an encoded picture and a label, plain or gzipped. Features have
/// usual names (image/encoded, image, image_raw, ...; image/class/label, label, class, target, ...) or those
/// of the columns `path` and `label`. Labels are whole numbers, or texts, which name the classes. The names
/// of numbered classes come from image/class/text, or from a text label next to a numeric one. The names of
/// files and folders give the splits.
///
/// Opening reads all records once and verifies their checksums. Throws Error naming the file and record: a
/// wrong checksum of a length, truncated, no record with a picture or a label, ambiguous features, fewer than
/// 2 classes. A wrong checksum of a record's data, or a missing picture or label, is its item's fault.
std::unique_ptr<Source> open_tfrecord(const std::filesystem::path& path, const SourceOptions& options);

}  // namespace convoke::data_prep

#pragma once
#include <filesystem>
#include <memory>

#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// True if `path` is a TFRecord file or a folder with one, at any depth: called *.tfrec*, also with .gz, or
/// *-of-* and beginning as such files do.
bool is_tfrecord(const std::filesystem::path& path);

/// TFRecords of tf.train.Examples with an encoded picture and a label, plain or gzipped. Features are found
/// by their usual names (image/encoded, image, image_raw, ...; image/class/label, label, class, target, ...)
/// or named by the columns `path` and `label`. Labels are whole numbers, or texts, which name the classes;
/// the names of numbered classes come from image/class/text, or from a label that is a text beside one that
/// is a number. Splits are told by the names of files and folders.
///
/// Opening reads all records once and verifies their checksums. Throws Error naming the file and record: a
/// wrong checksum of a length, truncated; no record with a picture or a label; features among which to
/// choose; fewer than 2 classes. A wrong checksum of a record's data, a picture or a label missing is its
/// item's fault.
std::unique_ptr<Source> open_tfrecord(const std::filesystem::path& path, const SourceOptions& options);

}  // namespace convoke::data_prep

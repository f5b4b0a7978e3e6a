#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convoke/data_prep/files/npy.hpp"
#include "convoke/data_prep/sources/csv_catalog.hpp"
#include "convoke/data_prep/sources/source.hpp"
#include "convoke/data_prep/sources/source_options.hpp"

namespace convoke::data_prep {

/// Opens `path` as the named kind of source. An empty name means: for a CSV, the kind of the columns that
/// `options` name (paths of pictures, texts or features); for other paths, the first kind that recognizes
/// them. CSVs are looked at with the options of reading. A folder stands for the CSV in it if the folder
/// holds no samples of another kind, or pictures without class folders. Throws Error if `path` does not
/// exist, no kind recognizes it or has the name (listing the kinds), several CSVs of a folder fit (naming
/// them), or it is damaged.
std::unique_ptr<Source> open_source(const std::filesystem::path& path, const SourceOptions& options = {},
                                    const std::string& kind = {});

/// Returns what open_source() takes `path` for: its kind, and the CSV that a folder stands for. Throws Error
/// as open_source().
Assumption assumed_kind(const std::filesystem::path& path, const SourceOptions& options,
                        const std::string& kind);

/// True if any kind of source recognizes `path`.
bool is_source(const std::filesystem::path& path);

/// Returns "idx", ... for help texts.
std::vector<std::string> source_kinds();

// The kinds of sources. Each has a function that recognizes a path, and one that opens it. Some have
// functions for `predict` and for other kinds.

/// True if `path` is a folder with a file that is named as MNIST's training images.
bool is_idx(const std::filesystem::path& path);

/// Opens a folder with the four files of MNIST (also Fashion-MNIST, KMNIST): {train,t10k}-images-idx3-ubyte
/// and {train,t10k}-labels-idx1-ubyte, plain or with .gz. Splits "train" and "test"; the number of classes is
/// the highest label + 1. Throws Error naming the file: missing, wrong magic number, truncated, corrupt gzip,
/// unequal numbers of images and labels, images of another size in the other split, fewer than 2 classes.
/// Damage within the images is found when they are read.
std::unique_ptr<Source> open_idx(const std::filesystem::path& folder, const SourceOptions& options);

/// True if `path` is a folder with a file of CIFAR-10 or CIFAR-100, in the binary or the Python version.
bool is_cifar(const std::filesystem::path& path);

/// Opens CIFAR-10, binary version: data_batch_1.bin .. data_batch_5.bin, test_batch.bin, names of the classes
/// in batches.meta.txt; or CIFAR-100 with its fine labels: train.bin, test.bin, fine_label_names.txt. Files
/// may end in .gz. Splits "train" and "test", pictures (3, 32, 32). Throws Error naming the file if it is
/// missing, if its size is not a multiple of a record's, if there is not one name per class, or if it is of
/// the pickled Python version. A label out of range is its item's fault.
/// https://www.cs.toronto.edu/~kriz/cifar.html
std::unique_ptr<Source> open_cifar(const std::filesystem::path& folder, const SourceOptions& options);

/// True if `path` is an .npz file, or a folder with an .npy file that has a name of samples or labels.
bool is_numpy(const std::filesystem::path& path);

/// Opens arrays of NumPy: the members of an .npz archive or the .npy files of a folder. A name is a word for
/// samples (x, images, data, features, tokens, ...) or labels (y, labels, targets, ...) and, before or after
/// it, a split: x_train and y_train, test_images and test_labels, images and labels. Arrays with other names
/// are ignored.
///
/// Samples: images uint8 (N, H, W), (N, H, W, C); features float (N, F) or uint8 (N, F); sequences float (N,
/// L, F); images of measured numbers float (N, H, W, C); tokens int32 or int64 (N, L). float64 becomes
/// float32, int64 becomes int32. Labels: whole numbers (N) or (N, 1), or one-hot (N, K). Throws Error naming
/// file and array: damaged, Python objects, another type or shape, samples without equally many labels,
/// ambiguous names, fewer than 2 classes. An invalid label or token is its item's fault.
std::unique_ptr<Source> open_numpy(const std::filesystem::path& path, const SourceOptions& options);

/// Opens the samples of `split` in an .npz archive, without labels: the array with that name, else the only
/// array of samples, else the only array. Throws Error naming the arrays if there is none, or if it is
/// damaged.
std::shared_ptr<SampleArray> open_npz_samples(const std::filesystem::path& npz, const std::string& split);

/// Returns `array`, whose samples are its first axis and whose other axes have the order of the letters of
/// `axes` (ArrayOptions), as (N, H, W, C), (N, H, W), (N, L, F), (N, L) or (N, F). It is read in whole
/// samples. Throws Error if it has another number of axes, or if the letters fit no kind of samples.
std::shared_ptr<SampleArray> in_order(std::shared_ptr<SampleArray> array, const std::string& axes);

/// True for a file with a usual ending of HDF5 (.h5, .hdf5, .hdf, .he5, .mat).
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

/// True for a CSV of requests (read_request_csv), a text dump of a Darshan log (read_darshan_dump), or a
/// folder with a folder of such files for each class, possibly within folders of splits.
bool is_io_traces(const std::filesystem::path& path, const ReadingOptions& options = {});

/// Opens traces of I/O. A sample is a window of requests of a trace (SourceOptions::window), as a table's row
/// of the five features of io_features(). A dump of darshan-parser is one window: it has no requests. The
/// label is the name of the folder or, with `columns.label` or a single CSV, in a column of the CSV. The
/// windows of a file (or of a value of `columns.group`) form a group. Reads all requests at once. A file
/// without requests is left out, and a note says so. Throws Error if a file is damaged, and for fewer than 2
/// classes.
std::unique_ptr<Source> open_io_traces(const std::filesystem::path& path, const SourceOptions& options);

/// True for a .csv or .tsv with a column that has a usual name of picture paths (filepaths, filename, image,
/// id_code, ...), or, without a header, one that begins with a picture's name.
bool is_manifest(const std::filesystem::path& path, const ReadingOptions& options = {});

/// Opens a CSV that lists pictures and their labels, such as birds.csv of BIRDS-525, trainLabels.csv of
/// EyePACS, train.csv of APTOS and labels.csv of ELPV. Columns have usual names, or the options give their
/// names or positions, 1, 2, ... A path is searched in `images_folder` or, by default, in the folder of the
/// CSV and in folders there that have its name (with _images) or are called images, train_images or train; a
/// name without an ending is tried with those of pictures. These are items with a fault: a row with too few
/// or too many cells, without a path or a label, or without a split if other rows have one; a row whose file
/// does not exist or was listed before; and a picture that is not listed, in a folder of listed pictures.
/// Throws Error if there is no column of paths or labels, no row, fewer than two classes, or a class in
/// another split that no training row has.
std::unique_ptr<Source> open_manifest(const std::filesystem::path& file, const SourceOptions& options);

/// True if a sub-folder of `path` holds, at any depth, a file with the name of a picture.
bool is_image_folder(const std::filesystem::path& path);

/// True if `path`, or its folder of training samples, has at least two sub-folders with pictures whose names
/// are not those of splits (train, test_images, ...): their classes are known without a CSV.
bool has_class_folders(const std::filesystem::path& path);

/// Opens a folder with a sub-folder for each class, which has its name and holds its pictures, at any depth;
/// or with sub-folders train, validation and test (see canonical_split) that hold such folders, as in
/// BIRDS-525 and PlantVillage. Other folders next to these are left out and named in the provenance. Classes
/// and pictures are ordered by the bytes of their names. Hidden files, and files without the name of a
/// picture, are left out. Pictures in unsupported formats (GIF, TIFF, WebP, ...), and pictures outside class
/// folders, are items with a fault. Bytes of names that are not UTF-8 are written as \xE4. Throws Error for
/// fewer than two classes, an empty class, other classes in another split, or a symbolic link to an enclosing
/// folder.
std::unique_ptr<Source> open_image_folder(const std::filesystem::path& folder, const SourceOptions& options);

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

/// True if `path` is a file *.tar, *.tar.gz or *.tgz, or a folder with one at any depth.
bool is_webdataset(const std::filesystem::path& path);

/// Opens the tar shards of a WebDataset. Consecutive files whose names are equal up to the first dot are one
/// sample: a picture (.jpg, .jpeg, .png, .bmp) and its label (.cls), a whole number or a text, which names
/// the class. The columns `path` and `label` give other endings, without the first dot. The names of shards
/// and folders give the splits. https://github.com/webdataset/webdataset
///
/// Throws Error naming the shard: not a tar archive, damaged, truncated; no sample with a picture or a label;
/// fewer than 2 classes. A sample with no picture or several, or without a label, is its item's fault.
std::unique_ptr<Source> open_webdataset(const std::filesystem::path& path, const SourceOptions& options);

/// True for a folder with a folder of .txt files for each class, possibly within folders of splits.
bool is_text_folder(const std::filesystem::path& path);

/// Opens texts in one file each, as IMDb's reviews in aclImdb: train/pos/*.txt, train/neg/*.txt,
/// test/pos/...; or pos/*.txt, neg/*.txt without splits. Classes are sorted by name. A folder `unsup` (texts
/// without labels) and files other than .txt are left out, and a note says so. Throws Error for fewer than 2
/// classes, and if a split lacks a class of another split. A file without a text has a fault.
std::unique_ptr<Source> open_text_folder(const std::filesystem::path& folder, const SourceOptions& options);

/// Returns the column of texts: one called text, review, sentence, tweet, content, ...; in a CSV without a
/// header the only column, of at most four, whose cells mostly differ and have three words or more.
std::optional<std::size_t> find_text_column(const CsvReading& reading);

/// True for a .csv or .tsv that has a column of texts.
bool is_text_csv(const std::filesystem::path& path, const ReadingOptions& options = {});

/// Opens a CSV of texts and their labels (see find_roles for the other columns), e.g. IMDb's
/// `review,sentiment`. A row without a text has a fault; a text without a known word is kept and consists of
/// padding. Throws Error as list_rows().
std::unique_ptr<Source> open_text_csv(const std::filesystem::path& file, const SourceOptions& options);

/// True for a .csv or .tsv of at least two columns. Tried after the kinds that need certain columns.
bool is_table_csv(const std::filesystem::path& path, const ReadingOptions& options = {});

/// Opens a CSV whose rows are samples of features (F), see TablePreparation. The label is in a column with a
/// usual name (see find_roles), else in the last column. Features are the named columns, else all columns
/// without another use. A column whose cells are all numbers or missing is numeric; other columns hold
/// categories. A row with an infinite number has a fault; notes give the number of missing cells of each
/// column. Throws Error as list_rows(), and if there is no column left for features.
std::unique_ptr<Source> open_table_csv(const std::filesystem::path& file, const SourceOptions& options);

}  // namespace convoke::data_prep

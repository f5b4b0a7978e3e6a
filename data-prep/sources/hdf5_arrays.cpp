#include "convoke/data_prep/sources/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/text_encoding.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/os/file.hpp"
#include "sources/hdf5_array.hpp"
#include "sources/labels.hpp"
#include "sources/named_arrays.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kEndings{".h5", ".hdf5", ".hdf", ".he5", ".mat"};

// Attributes of the root that other kinds of HDF5 files have.
struct OtherKind {
  std::string_view attribute;
  const char* is;
  const char* hint;
};
constexpr std::array kOthers{
    OtherKind{"convoke_format", "was written by Convoke",
              "use it as it is: --set data.path=FILE for a dataset"},
    OtherKind{"keras_version", "is a model of Keras", "read it with convoke import"},
    OtherKind{"layer_names", "has the weights of a Keras model", "read it with convoke import"},
};

const OtherKind* other_kind(const hdf5::File& file) {
  const auto it = std::find_if(kOthers.begin(), kOthers.end(), [&](const OtherKind& kind) {
    return file.has_attribute(std::string(kind.attribute));
  });
  return it == kOthers.end() ? nullptr : &*it;
}

std::string matlab_class(const hdf5::ForeignArray& array) {
  return is_matlab(array) ? array.attribute<std::string>("MATLAB_class") : "";
}

// Returns the rows of MATLAB's matrix of characters, (rows, length), without the blanks that fill them up.
std::vector<std::string> character_rows(const hdf5::ForeignArray& array) {
  if (array.has_attribute("MATLAB_empty") || array.shape().elements() == 0) return {""};
  const Shape shape = shown_shape(array);
  std::vector<std::int32_t> units(static_cast<std::size_t>(shape.elements()));
  array.read(std::span(units));
  const auto rows = static_cast<std::size_t>(shape[0]);
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line;  // UTF-16
    for (std::size_t i = row; i < units.size(); i += rows) {
      line += static_cast<char>(units[i] & 0xFF);
      line += static_cast<char>(units[i] >> 8 & 0xFF);
    }
    std::string text = to_utf8(line, TextEncoding::kUtf16le);
    text.erase(text.find_last_not_of(' ') + 1);
    texts.push_back(std::move(text));
  }
  return texts;
}

// Returns the texts of an array: strings, MATLAB's characters or a cell array of them; none if it has others.
std::optional<std::vector<std::string>> texts_of(const hdf5::ForeignArray& array) {
  if (array.holds_texts()) return array.texts();
  const std::string kind = matlab_class(array);
  if (kind == "char") return character_rows(array);
  if (kind != "cell") return {};
  std::vector<std::string> texts;
  for (const hdf5::ForeignArray& cell : array.referenced()) {
    if (matlab_class(cell) != "char")
      throw Error(fmt::format("{}: has cells that are not texts", array.where()),
                  "store numbers as an array, and texts as a cell array of character vectors: cellstr(y)");
    texts.push_back(character_rows(cell).front());
  }
  return texts;
}

class Hdf5Arrays final : public NamedArrays {
 public:
  Hdf5Arrays(const fs::path& path, const SourceOptions& options)
      : NamedArrays(
            path,
            "write for example x_train, y_train, x_test and y_test, images and labels, or train/x and "
            "train/y; or name the arrays with --path-column and --label-column"),
        file_(hdf5::File::open(path)),
        axes_(options.arrays.axes) {
    if (const OtherKind* const other = other_kind(file_))
      throw Error(fmt::format("{}: {}", path.string(), other->is), other->hint);
    std::vector<std::string> names;
    std::size_t groups = 0;
    list(file_, "", names, groups);
    set_names(std::move(names));
  }

  std::unique_ptr<SampleArray> open(const std::string& name, const std::string& labels = {}) const override {
    hdf5::ForeignArray array = opened(name);
    const std::size_t axis = sample_axis(array, labels);
    return std::make_unique<Hdf5Array>(std::move(array), axis);
  }

  std::vector<ArrayLabels> labels(const std::vector<std::string>& names,
                                  const std::vector<std::string>& class_names) const override {
    std::vector<std::vector<std::string>> texts;  // of each array, if all are to be names
    bool spelled = false;                         // an array holds texts, not numbers
    for (const std::string& name : names) {
      const hdf5::ForeignArray array = opened(name);
      array.expect_stored();
      if (auto found = texts_of(array)) {
        texts.push_back(*std::move(found));
        spelled = true;
      } else if (auto counted_from_one = matlab_numbers(array)) {
        texts.push_back(*std::move(counted_from_one));
      }
    }
    if (!spelled && texts.size() < names.size()) texts.clear();  // one has a label 0: they count from 0
    if (texts.empty()) {
      std::vector<ArrayLabels> labels;
      for (const std::string& name : names) labels.push_back(numbers(name));
      return labels;
    }
    if (texts.size() < names.size())
      throw Error(fmt::format("{}: some of the arrays {} hold texts, others numbers", path().string(),
                              listing(names)));
    return named(texts, names, class_names);
  }

 private:
  void list(const hdf5::Group& group, const std::string& prefix, std::vector<std::string>& names,
            std::size_t& groups) const {
    if (++groups > kMostGroups) {
      throw Error(
          fmt::format("{}: has more than {} groups", path().string(), kMostGroups),
          "copy the arrays into a file with fewer groups; a group that holds itself counts each time");
    }
    for (const std::string& child : group.children()) {
      if (child == "#refs#" || child == "#subsystem#") continue;  // of MATLAB
      const std::string name = prefix + child;
      if (group.has_dataset(child)) {
        names.push_back(name);
      } else if (group.has_group(child)) {
        const hdf5::Group inner = group.group(child);
        if (inner.has_attribute("MATLAB_sparse")) {
          names.push_back(name);  // refused when it is opened
        } else if (std::count(name.begin(), name.end(), '/') < kDeepest) {
          list(inner, name + "/", names, groups);
        }
      }
    }
  }

  hdf5::ForeignArray opened(const std::string& name) const {
    if (file_.has_group(name))
      throw Error(fmt::format("{}: {}: is a sparse matrix of MATLAB", path().string(), name), "save full(x)");
    hdf5::ForeignArray array(file_.dataset(name));
    if (array.has_attribute("MATLAB_object_decode"))
      throw Error(
          fmt::format("{}: is an object of MATLAB's class {}", array.where(), matlab_class(array)),
          "save a plain array: cellstr(y) of a categorical or string array, table2array(t) of a table");
    return array;
  }

  // Returns the axis of the samples in the array as its program shows it.
  std::size_t sample_axis(const hdf5::ForeignArray& array, const std::string& labels) const {
    const Shape shape = shown_shape(array);
    if (!axes_.empty()) {
      const std::size_t place = axes_.find('N');
      if (axes_.size() == shape.rank() && place != std::string::npos) return place;
      throw Error(fmt::format("--axes {}: {} has shape {}", axes_, array.where(), shape.to_string()),
                  "write a letter for each axis, with N for the samples");
    }
    const std::size_t last = shape.rank() == 0 ? 0 : shape.rank() - 1;
    const std::size_t usual = is_matlab(array) && shape.rank() > 2 ? last : 0;
    const std::size_t other = last - usual;
    if (!is_matlab(array) || labels.empty() || shape.rank() < 2) return usual;
    const Shape of_labels = shown_shape(opened(labels));  // (N), (N, 1), (1, N), (N, K)
    if (of_labels.rank() == 0) return usual;
    const std::int64_t samples = of_labels[of_labels.rank() == 2 && of_labels[0] == 1 ? 1 : 0];
    return shape[usual] != samples && shape[other] == samples ? other : usual;
  }

  // Labels of MATLAB: (N, 1) or (1, N).
  ArrayLabels numbers(const std::string& name) const {
    hdf5::ForeignArray array = opened(name);
    const Shape shape = shown_shape(array);
    const bool row = is_matlab(array) && shape.rank() == 2 && shape[0] == 1;
    Hdf5Array stored(std::move(array), row ? 1 : 0);
    return read_labels(stored);
  }

  // Returns the labels as texts if MATLAB counted them from 1; else none.
  std::optional<std::vector<std::string>> matlab_numbers(const hdf5::ForeignArray& array) const {
    const Shape shape = shown_shape(array);
    if (!is_matlab(array) || shape.rank() != 2 || std::min(shape[0], shape[1]) != 1 ||
        shape.elements() == 0 || array.readable_type() == hdf5::ElementType::kOther)
      return {};
    std::vector<double> values(static_cast<std::size_t>(shape.elements()));
    array.read_slices(0, 0, std::span(values));
    if (*std::min_element(values.begin(), values.end()) < 1) return {};
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(fmt::format("{}", value));
    return texts;
  }

  std::vector<ArrayLabels> named(const std::vector<std::vector<std::string>>& texts,
                                 const std::vector<std::string>& names,
                                 const std::vector<std::string>& class_names) const {
    std::vector<std::string> all;
    for (const auto& of_array : texts) all.insert(all.end(), of_array.begin(), of_array.end());
    const ClassLabels classes = class_labels(all, class_names, path().string());
    std::vector<ArrayLabels> labels;
    auto next = classes.labels.begin();
    for (std::size_t i = 0; i < names.size(); ++i) {
      ArrayLabels& of_array = labels.emplace_back();
      of_array.name = opened(names[i]).where();
      of_array.classes = classes.classes;
      of_array.class_names = classes.class_names;
      for (std::size_t k = 0; k < texts[i].size(); ++k, ++next) {
        of_array.values.push_back(std::max(0, *next));
        of_array.faults.push_back(*next < 0 ? "has no label" : "");
      }
    }
    return labels;
  }

  static constexpr int kDeepest = 8;
  static constexpr std::size_t kMostGroups = 10'000;

  hdf5::File file_;
  std::string axes_;
};

void refuse_old_matlab(const fs::path& file) {
  constexpr std::string_view kOldMatlab = "MATLAB 5.0 MAT-file";
  std::string begin(kOldMatlab.size(), '\0');
  if (os::File(file, os::Access::kRead).read_some_at(0, std::as_writable_bytes(std::span(begin))) ==
          begin.size() &&
      begin == kOldMatlab)
    throw Error(fmt::format("{}: is a MAT-file of version 5 to 7, which is not HDF5", file.string()),
                "save it again in MATLAB with save(..., '-v7.3'), or from Python as .npz: "
                "numpy.savez(file, **{k: v for k, v in scipy.io.loadmat(file).items() if k[0] != '_'})");
}

}  // namespace

bool has_hdf5_ending(const fs::path& path) {
  const std::string ending = lower_case(path.extension().string());
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

bool is_hdf5_arrays(const fs::path& path) {
  if (!has_hdf5_ending(path) || !fs::is_regular_file(path)) return false;
  try {
    return other_kind(hdf5::File::open(path)) == nullptr;
  } catch (const Error&) {  // damaged, or not HDF5
    return false;
  }
}

std::unique_ptr<Source> open_hdf5_arrays(const fs::path& file, const SourceOptions& options) {
  refuse_old_matlab(file);
  return open_array_source(std::make_unique<Hdf5Arrays>(file, options), options);
}

std::shared_ptr<SampleArray> open_hdf5_samples(const fs::path& file, const std::string& split,
                                               const std::string& axes) {
  refuse_old_matlab(file);
  return open_samples_of(std::make_unique<Hdf5Arrays>(file, SourceOptions{.arrays = {.axes = axes}}), split);
}

}  // namespace convoke::data_prep

#include "sources/numpy_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/zip.hpp"
#include "sources/labels.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 10> kSampleWords{
    "x", "images", "image", "data", "features", "inputs", "sequences", "signals", "tokens", "samples"};
constexpr std::array<std::string_view, 5> kLabelWords{"y", "labels", "label", "targets", "target"};
constexpr std::array<std::string_view, 3> kSplits{"train", "validation", "test"};
constexpr const char* kNamesHint =
    "numpy.savez(file, x_train=x, y_train=y, x_test=..., y_test=...): one array of samples and one of labels "
    "for "
    "each split, or images and labels alone";

enum class Role { kNone, kSamples, kLabels };

struct Meaning {
  Role role = Role::kNone;
  std::string split = {};
};

// Parses "x_train", "test_images", "labels": one word for the role and at most one for the split.
Meaning meaning_of(const std::string& array) {
  Meaning meaning;
  std::size_t begin = 0;
  while (begin <= array.size()) {
    const std::size_t end = std::min(array.find('_', begin), array.size());
    const std::string word = canonical_split(array.substr(begin, end - begin));  // in lower case
    begin = end + 1;
    const auto is_in = [&](const auto& words) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    const Role role = is_in(kSampleWords) ? Role::kSamples : is_in(kLabelWords) ? Role::kLabels : Role::kNone;
    if (role != Role::kNone && meaning.role == Role::kNone) {
      meaning.role = role;
    } else if (is_in(kSplits) && meaning.split.empty()) {
      meaning.split = word;
    } else {
      return {};
    }
  }
  return meaning;
}

// Returns why `value` cannot be a label; empty if it can.
template <class T>
std::string fault_of(T value) {
  constexpr double kMost = 1e15;  // below this, doubles hold all whole numbers
  const auto number = static_cast<double>(value);
  if (!(std::abs(number) < kMost) || std::trunc(number) != number)
    return fmt::format("its label is {}", value);
  return label_fault(static_cast<std::int64_t>(number));
}

// Returns the column of the only 1 in a row of zeros, or -1.
template <class T>
std::int32_t one_hot(std::span<const T> row) {
  const auto one = std::find(row.begin(), row.end(), T{1});
  const auto others = std::count(row.begin(), row.end(), T{0});
  if (one == row.end() || static_cast<std::size_t>(others) + 1 != row.size()) return -1;
  return static_cast<std::int32_t>(one - row.begin());
}

}  // namespace

struct NumpyArrays::Archive {
  ZipFile zip;
};

NumpyArrays::NumpyArrays(const fs::path& path) : path_(path) {
  constexpr std::string_view kEnding = ".npy";
  const auto add = [&](const std::string& file) {
    if (file.ends_with(kEnding)) names_.push_back(file.substr(0, file.size() - kEnding.size()));
  };
  if (fs::is_directory(path)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path))
      add(entry.path().filename().string());
  } else {
    archive_ = std::make_unique<Archive>(Archive{ZipFile(path)});
    for (const ZipFile::Member& member : archive_->zip.members()) add(member.name);
  }
  std::sort(names_.begin(), names_.end());
  if (const auto twice = std::adjacent_find(names_.begin(), names_.end()); twice != names_.end()) {
    throw Error(fmt::format("{}: has two arrays named {}", path.string(), *twice));
  }
}

NumpyArrays::~NumpyArrays() = default;

NpyReader NumpyArrays::open(const std::string& name) const {
  const std::string file = name + ".npy";
  if (archive_ == nullptr) return NpyReader(open_plain(path_ / file));
  const auto& members = archive_->zip.members();
  const auto member =
      std::find_if(members.begin(), members.end(), [&](const ZipFile::Member& m) { return m.name == file; });
  if (member == members.end()) throw Error(fmt::format("{}: has no array {}", path_.string(), name));
  return NpyReader(archive_->zip.open(*member));
}

std::vector<NumpyPair> NumpyArrays::pairs() const {
  std::vector<NumpyPair> pairs;
  for (const std::string& name : names_) {
    const Meaning meaning = meaning_of(name);
    if (meaning.role == Role::kNone) continue;
    auto pair = std::find_if(pairs.begin(), pairs.end(),
                             [&](const NumpyPair& known) { return known.split == meaning.split; });
    if (pair == pairs.end()) pair = pairs.insert(pairs.end(), {.split = meaning.split});
    const bool samples = meaning.role == Role::kSamples;
    std::string& place = samples ? pair->samples : pair->labels;
    if (!place.empty()) {
      throw Error(
          fmt::format("{}: both {} and {} may be the {}{}{}", path_.string(), place, name,
                      samples ? "samples" : "labels", meaning.split.empty() ? "" : " of ", meaning.split),
          kNamesHint);
    }
    place = name;
  }
  if (pairs.empty()) {
    throw Error(fmt::format("{}: no array has a name of samples or labels; it has {}", path_.string(),
                            names_.empty() ? "none" : convoke::join(names_)),
                kNamesHint);
  }
  for (const NumpyPair& pair : pairs) {
    if (!pair.samples.empty() && !pair.labels.empty()) continue;
    throw Error(fmt::format("{}: {} has no {}; the arrays are {}", path_.string(),
                            pair.samples.empty() ? pair.labels : pair.samples,
                            pair.samples.empty() ? "samples" : "labels", convoke::join(names_)),
                kNamesHint);
  }
  const auto place = [](const NumpyPair& pair) {
    return std::find(kSplits.begin(), kSplits.end(), pair.split) - kSplits.begin();
  };
  std::sort(pairs.begin(), pairs.end(),
            [&](const NumpyPair& a, const NumpyPair& b) { return place(a) < place(b); });
  return pairs;
}

std::string NumpyArrays::samples_of(const std::string& split) const {
  std::vector<std::string> samples, of_split;
  for (const std::string& name : names_) {
    const Meaning meaning = meaning_of(name);
    if (meaning.role != Role::kSamples) continue;
    samples.push_back(name);
    if (meaning.split == canonical_split(split)) of_split.push_back(name);
  }
  for (const auto& candidates : {of_split, samples, names_}) {
    if (candidates.size() == 1) return candidates.front();
  }
  throw Error(fmt::format("{}: the array with the samples of {} is ambiguous; the arrays are {}",
                          path_.string(), split, convoke::join(names_)),
              "choose one with --split, such as train for x_train; or save a single array");
}

bool names_samples_or_labels(const std::string& array) { return meaning_of(array).role != Role::kNone; }

NumpyLabels read_labels(NpyReader& array) {
  const Shape& shape = array.shape();
  if (shape.rank() != 1 && shape.rank() != 2) {
    throw Error(fmt::format("{}: has shape {}", array.name(), shape.to_string()),
                "labels must be (N), (N, 1) or, one-hot, (N, K)");
  }
  const std::size_t columns = shape.rank() == 2 ? static_cast<std::size_t>(shape[1]) : 1;
  NumpyLabels labels;
  labels.classes = columns > 1 ? shape[1] : 0;
  const NpyValues all = read_all(array).values;
  std::visit(
      [&]<class T>(const std::vector<T>& values) {
        for (std::size_t at = 0; at + columns <= values.size() && columns > 0; at += columns) {
          const auto row = std::span(values).subspan(at, columns);
          const std::int32_t column = columns > 1 ? one_hot(row) : 0;
          labels.faults.push_back(columns == 1 ? fault_of(row[0])
                                  : column < 0 ? "its label is not one-hot"
                                               : "");
          const bool whole = labels.faults.back().empty();
          labels.values.push_back(!whole ? 0 : columns > 1 ? column : static_cast<std::int32_t>(row[0]));
          labels.classes = std::max<std::int64_t>(labels.classes, labels.values.back() + 1);
        }
      },
      all);
  return labels;
}

}  // namespace convoke::data_prep

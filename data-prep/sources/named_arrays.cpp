#include "sources/named_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "sources/labels.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 10> kSampleWords{
    "x", "images", "image", "data", "features", "inputs", "sequences", "signals", "tokens", "samples"};
constexpr std::array<std::string_view, 5> kLabelWords{"y", "labels", "label", "targets", "target"};

enum class Role { kNone, kSamples, kLabels };

struct Meaning {
  Role role = Role::kNone;
  std::string split = {};
};

// Cuts "train/x_1" and "XTrain" into their words, in lower case and with the usual names of splits.
std::vector<std::string> name_words(const std::string& name) {
  const auto upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  const auto lower = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; };
  std::vector<std::string> words{""};
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool begins =
        i > 0 && upper(c) && (lower(name[i - 1]) || (i + 1 < name.size() && lower(name[i + 1])));
    if (c == '_' || c == '/' || begins) words.emplace_back();
    if (c != '_' && c != '/') words.back() += c;
  }
  for (std::string& word : words) word = canonical_split(word);
  return words;
}

template <class Words>
bool is_in(const std::string& word, const Words& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Role role_of(const std::string& word) {
  return is_in(word, kSampleWords) ? Role::kSamples : is_in(word, kLabelWords) ? Role::kLabels : Role::kNone;
}

// Cuts "xtrain" into x and train.
std::vector<std::string> cut_split(const std::string& word) {
  for (const std::string_view split : {"train", "test", "validation", "valid", "val"}) {
    if (word.ends_with(split)) {
      std::string rest = word.substr(0, word.size() - split.size());
      if (role_of(rest) != Role::kNone) return {std::move(rest), canonical_split(std::string(split))};
    }
  }
  return {word};
}

// Parses "x_train", "test/images", "XTrain", "labels": one word for the role and at most one for the split.
// (Coursera's data sets are called "train_set_x".)
Meaning meaning_of_words(std::vector<std::string> words) {
  Meaning meaning;
  if (words.size() > 2) std::erase(words, "set");
  if (words.size() == 1) words = cut_split(words.front());
  for (const std::string& word : words) {
    const Role role = role_of(word);
    if (role != Role::kNone && meaning.role == Role::kNone) {
      meaning.role = role;
    } else if (is_usual_split(word) && meaning.split.empty()) {
      meaning.split = word;
    } else {
      return {};
    }
  }
  return meaning;
}

// Groups around the array need not mean anything: "leaves/train/x".
Meaning meaning_of(const std::string& array) {
  for (std::size_t begin = 0;; ++begin) {
    const Meaning meaning = meaning_of_words(name_words(array.substr(begin)));
    if (meaning.role != Role::kNone) return meaning;
    begin = array.find('/', begin);
    if (begin == std::string::npos) return {};
  }
}

// As meaning_of(), with a name for samples or labels that the user gave, alone or within groups.
Meaning meaning_of(const std::string& array, const ColumnOptions& columns) {
  Meaning meaning = meaning_of(array);
  const auto is = [&](const std::string& given) {
    return !given.empty() && (array == given || array.ends_with("/" + given));
  };
  const bool samples = is(columns.path), labels = is(columns.label);
  if (samples || labels) {
    for (const std::string& word : name_words(array)) {
      if (is_usual_split(word)) meaning.split = word;
    }
    meaning.role = samples ? Role::kSamples : Role::kLabels;
  } else if (!(meaning.role == Role::kSamples ? columns.path : columns.label).empty()) {
    meaning.role = Role::kNone;
  }
  return meaning;
}

// Returns why `value` cannot be a label; empty if it can.
template <class T>
std::string fault_of(T value) {
  constexpr double kMost = 1e15;  // below this, doubles hold all whole numbers
  const auto number = static_cast<double>(value);
  if (!(std::abs(number) < kMost) || std::trunc(number) != number)
    return fmt::format("its label is {}, not the whole number of a class", value);
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

void NamedArrays::set_names(std::vector<std::string> names) {
  names_ = std::move(names);
  std::sort(names_.begin(), names_.end());
  if (const auto twice = std::adjacent_find(names_.begin(), names_.end()); twice != names_.end()) {
    throw Error(fmt::format("{}: has two arrays named {}", path_.string(), *twice));
  }
}

std::vector<ArrayLabels> NamedArrays::labels(const std::vector<std::string>& names,
                                             const std::vector<std::string>& /*class_names*/) const {
  std::vector<ArrayLabels> labels;
  for (const std::string& name : names) labels.push_back(read_labels(*open(name)));
  return labels;
}

std::vector<ArrayPair> NamedArrays::pairs(const ColumnOptions& columns) const {
  std::vector<ArrayPair> pairs;
  for (const std::string& name : names_) {
    const Meaning meaning = meaning_of(name, columns);
    if (meaning.role == Role::kNone) continue;
    auto pair = std::find_if(pairs.begin(), pairs.end(),
                             [&](const ArrayPair& known) { return known.split == meaning.split; });
    if (pair == pairs.end()) pair = pairs.insert(pairs.end(), {.split = meaning.split});
    const bool samples = meaning.role == Role::kSamples;
    std::string& place = samples ? pair->samples : pair->labels;
    if (!place.empty()) {
      throw Error(
          fmt::format("{}: both {} and {} may be the {}{}{}", path_.string(), place, name,
                      samples ? "samples" : "labels", meaning.split.empty() ? "" : " of ", meaning.split),
          hint_);
    }
    place = name;
  }
  if (pairs.empty()) {
    throw Error(fmt::format("{}: no array has a name of samples or labels; it has {}", path_.string(),
                            names_.empty() ? "none" : listing(names_)),
                hint_);
  }
  for (const ArrayPair& pair : pairs) {
    if (!pair.samples.empty() && !pair.labels.empty()) continue;
    throw Error(fmt::format("{}: {} has no {}; the arrays are {}", path_.string(),
                            pair.samples.empty() ? pair.labels : pair.samples,
                            pair.samples.empty() ? "samples" : "labels", listing(names_)),
                hint_);
  }
  const auto place = [](const ArrayPair& pair) {
    return std::find(kUsualSplits.begin(), kUsualSplits.end(), pair.split) - kUsualSplits.begin();
  };
  std::sort(pairs.begin(), pairs.end(),
            [&](const ArrayPair& a, const ArrayPair& b) { return place(a) < place(b); });
  return pairs;
}

ArrayPair NamedArrays::samples_of(const std::string& split) const {
  std::vector<std::string> samples, of_split;
  for (const std::string& name : names_) {
    const Meaning meaning = meaning_of(name);
    if (meaning.role != Role::kSamples) continue;
    samples.push_back(name);
    if (meaning.split == canonical_split(split)) of_split.push_back(name);
  }
  for (const auto& candidates : {of_split, samples, names_}) {
    if (candidates.size() != 1) continue;
    ArrayPair pair{.split = meaning_of(candidates.front()).split, .samples = candidates.front()};
    for (const std::string& name : names_) {
      const Meaning meaning = meaning_of(name);
      if (meaning.role == Role::kLabels && meaning.split == pair.split) pair.labels = name;
    }
    return pair;
  }
  throw Error(fmt::format("{}: the array with the samples of {} is ambiguous; the arrays are {}",
                          path_.string(), split, listing(names_)),
              "choose one with --split, such as train for x_train; or save a single array");
}

std::shared_ptr<SampleArray> open_samples_of(std::unique_ptr<const NamedArrays> arrays,
                                             const std::string& split) {
  struct Open {
    std::unique_ptr<const NamedArrays> arrays;  // outlives what was opened of it
    std::unique_ptr<SampleArray> samples;
  };
  const ArrayPair pair = arrays->samples_of(split);
  auto samples = arrays->open(pair.samples, pair.labels);
  const auto open = std::make_shared<Open>(Open{std::move(arrays), std::move(samples)});
  return {open, open->samples.get()};
}

bool names_samples_or_labels(const std::string& array) { return meaning_of(array).role != Role::kNone; }

ArrayLabels read_labels(SampleArray& array) {
  const Shape& shape = array.shape();
  if (shape.rank() != 1 && shape.rank() != 2) {
    throw Error(fmt::format("{}: has shape {}", array.name(), shape.to_string()),
                "labels must be (N), (N, 1) or, one-hot, (N, K)");
  }
  const std::size_t columns = shape.rank() == 2 ? static_cast<std::size_t>(shape[1]) : 1;
  ArrayLabels labels{.name = array.name()};
  labels.classes = columns > 1 ? shape[1] : 0;
  const NpyValues all = read_all(array).values;
  std::visit(
      [&]<class T>(const std::vector<T>& values) {
        for (std::size_t at = 0; at + columns <= values.size() && columns > 0; at += columns) {
          const auto row = std::span(values).subspan(at, columns);
          const std::int32_t column = columns > 1 ? one_hot(row) : 0;
          labels.faults.push_back(columns == 1 ? fault_of(row[0])
                                  : column < 0
                                      ? "its label is not one-hot; each sample needs exactly one class"
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

#include "convoke/data/dataset_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <limits>
#include <system_error>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/data/shards.hpp"
#include "convoke/hdf5/file.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/os/file.hpp"
#include "dataset_parts.hpp"
#include "sample_check.hpp"
#include "stored_dataset.hpp"

namespace convoke::data {
namespace {

namespace fs = std::filesystem;

// Refuses to replace `path` by a dataset if it is a device, or a folder that holds anything but shards.
void require_replaceable(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return os::require_replaceable(path);
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    if (is_shard_name(entry.path().filename().string())) continue;
    throw Error(fmt::format("{}: is a folder that holds more than a dataset: {}", path.string(),
                            entry.path().filename().string()),
                "choose another name, or empty the folder yourself");
  }
}

void check_sizes(const fs::path& file, const DatasetInfo& info, const std::vector<SplitSize>& splits) {
  const auto refuse = [&](const std::string& why) { throw Error(fmt::format("{}: {}", file.string(), why)); };
  ensure(may_have_rank(info.sample_type, info.sample_shape.rank()) && !splits.empty(),
         "samples of this type may have this shape, and there is a split");
  if (info.sample_shape.elements() <= 0) {
    refuse(fmt::format("samples of shape {} are empty", info.sample_shape.to_string()));
  }
  if (info.classes < 2) refuse(fmt::format("a dataset needs at least 2 classes, not {}", info.classes));
  if (!info.class_names.empty() && static_cast<std::int64_t>(info.class_names.size()) != info.classes) {
    refuse(fmt::format("{} class names for {} classes", info.class_names.size(), info.classes));
  }
  for (const SplitSize& split : splits) {
    if (split.name.empty() || split.name == format::kPreparation || split.name == format::kAssumptions ||
        split.name.starts_with('.') || split.name.find('/') != std::string::npos) {
      refuse(fmt::format("a split cannot be called \"{}\"", split.name));
    }
    if (split.samples <= 0) refuse(fmt::format("split \"{}\" has no samples", split.name));
    if (split.samples > std::numeric_limits<std::uint32_t>::max()) {
      refuse(fmt::format("split \"{}\" has {} samples; samples are numbered with 32 bits", split.name,
                         split.samples));
    }
    if (split.shards > split.samples) {
      refuse(fmt::format("split \"{}\" has {} samples, too few for {} shards", split.name, split.samples,
                         split.shards));
    }
    ensure((split.shards > 0) == sharded(splits), "all splits lie in shards, or none");
    const std::vector<std::int64_t>& ends = split.encoded_ends;
    ensure(ends.empty() == splits.front().encoded_ends.empty(), "all splits are encoded, or none");
    ensure(ends.empty() || (info.sample_type == SampleType::kUint8 && std::ssize(ends) == split.samples &&
                            ends.front() > 0 && std::ranges::is_sorted(ends, std::less_equal())),
           "encoded samples are pictures, and each ends after the one before it");
  }
}

// Texts may be longer than an attribute.
void write_text(hdf5::File& file, const char* name, const std::string& text) {
  if (!text.empty()) file.write(name, std::vector<std::uint8_t>(text.begin(), text.end()));
}

}  // namespace

DatasetWriter::DatasetWriter(const fs::path& file, DatasetInfo info, std::vector<SplitSize> splits)
    : file_(file), temporary_(file.string() + ".part"), info_(std::move(info)), sizes_(std::move(splits)) {}

DatasetWriter::DatasetWriter(DatasetWriter&& other) noexcept
    : file_(std::move(other.file_)),
      temporary_(std::move(other.temporary_)),
      info_(std::move(other.info_)),
      sizes_(std::move(other.sizes_)),
      splits_(std::move(other.splits_)),
      creator_(std::exchange(other.creator_, false)),
      open_(std::move(other.open_)),
      unsynced_(std::move(other.unsynced_)) {}

DatasetWriter::~DatasetWriter() {
  std::error_code ignored;
  if (creator_) fs::remove_all(temporary_, ignored);
}

DatasetWriter DatasetWriter::create(const fs::path& file, DatasetInfo info, std::vector<SplitSize> splits,
                                    bool overwrite) {
  check_sizes(file, info, splits);
  if (!overwrite && fs::exists(file)) {
    throw Error(fmt::format("{}: exists already", file.string()), "choose another name, or add --overwrite");
  }
  require_replaceable(file);
  DatasetWriter writer(file, std::move(info), std::move(splits));
  writer.lay_out();
  return writer;
}

// HDF5 chooses the places of a file's arrays; finish() writes the structure around them, when all of it is
// known. Shards of one size have the same layout, unless their pictures are encoded.
void DatasetWriter::lay_out() {
  std::error_code error;
  fs::remove_all(temporary_, error);  // left by a writer that was killed
  if (sharded(sizes_) && !fs::create_directory(temporary_, error)) {
    throw Error(fmt::format("{}: cannot be created: {}", temporary_.string(), error.message()),
                "check that its parent folder exists");
  }
  creator_ = true;
  std::vector<std::uint64_t> places, last;
  std::pair<std::size_t, std::int64_t> last_shape{sizes_.size(), 0};
  for (const Part& part : parts_of(temporary_, sizes_)) {
    const std::pair shape(part.splits.front(), range_of(part, sizes_[part.splits.front()]).second);
    if (shape != last_shape || !sizes_.front().encoded_ends.empty()) {
      const os::File own(part.file, os::Access::kNew);  // no link leads HDF5 to another place
      hdf5::File structure = hdf5::File::create(part.file);
      last = reserve(structure, part, sizes_, info_);
      last_shape = shape;
    }
    const os::File made(part.file, os::Access::kNew);
    places.insert(places.end(), last.begin(), last.end());
  }
  take(places);
}

DatasetWriter DatasetWriter::join(const fs::path& file, DatasetInfo info, std::vector<SplitSize> splits,
                                  std::span<const std::uint64_t> places) {
  DatasetWriter writer(file, std::move(info), std::move(splits));
  writer.take(places);
  return writer;
}

std::size_t DatasetWriter::place_count(std::span<const SplitSize> splits) {
  std::size_t pieces = 0;
  for (const SplitSize& split : splits)
    pieces += static_cast<std::size_t>(std::max<std::int64_t>(1, split.shards));
  return kColumns.size() * pieces;
}

void DatasetWriter::take(std::span<const std::uint64_t> places) {
  ensure(places.size() == place_count(sizes_), "a place for each array");
  for (const SplitSize& size : sizes_) {
    StoredSplit split;
    split.name = size.name;
    split.count = size.samples;
    split.type = info_.sample_type;
    split.shape = stored_shape(info_.sample_shape);
    split.ends = size.encoded_ends;
    splits_.push_back(std::move(split));
  }
  auto place = places.begin();
  for (const Part& part : parts_of(temporary_, sizes_)) {
    for (const std::size_t i : part.splits) {
      for (const Column& column : kColumns) {
        if (const std::uint64_t offset = *place++; offset != 0) {
          const auto [first, count] = rows_of(part, sizes_[i], column);
          (splits_[i].*column.array).push_back({first, count, part.file, column.name, offset});
        }
      }
      if (splits_[i].is_encoded()) {
        const auto [first, count] = range_of(part, sizes_[i]);
        splits_[i].samples.push_back({first, count, part.file, format::kEncoded, {}});
      }
    }
  }
}

std::vector<std::uint64_t> DatasetWriter::places() const {
  std::vector<std::uint64_t> places;
  std::vector<std::size_t> next(splits_.size(), 0);  // current piece of each split
  for (const Part& part : parts_of(temporary_, sizes_)) {
    for (const std::size_t i : part.splits) {
      const std::size_t piece = next[i]++;
      for (const Column& column : kColumns) {
        const StoredArray& array = splits_[i].*column.array;
        places.push_back(has_column(sizes_[i], column) ? array[piece].offset.value() : 0);
      }
    }
  }
  return places;
}

os::File& DatasetWriter::opened(const fs::path& file) {
  if (open_ && open_.path() == file) return open_;
  open_ = os::File(file, os::Access::kWrite);
  if (std::find(unsynced_.begin(), unsynced_.end(), file) == unsynced_.end()) unsynced_.push_back(file);
  return open_;
}

void DatasetWriter::write_rows(const StoredArray& array, std::int64_t first, std::span<const std::byte> rows,
                               std::size_t row_bytes) {
  auto piece = std::find_if(array.begin(), array.end(),
                            [&](const StoredPiece& p) { return first < p.first + p.count; });
  for (; !rows.empty(); ++piece) {
    const auto inside = static_cast<std::uint64_t>(first - piece->first);
    const auto room = static_cast<std::uint64_t>(piece->count) - inside;
    const std::span<const std::byte> part = rows.first(std::min<std::size_t>(rows.size(), room * row_bytes));
    opened(piece->file).write_at(*piece->offset + inside * row_bytes, part);
    rows = rows.subspan(part.size());
    first += static_cast<std::int64_t>(part.size() / row_bytes);
  }
}

void DatasetWriter::write(const std::string& name, std::int64_t first, const Samples& samples,
                          std::span<const std::int32_t> labels, std::span<const float> weights,
                          std::span<const std::int32_t> original_sizes,
                          std::span<const std::int32_t> groups) {
  const auto found =
      std::find_if(splits_.begin(), splits_.end(), [&](const StoredSplit& s) { return s.name == name; });
  ensure(found != splits_.end(), "the dataset has the split");
  const StoredSplit& split = *found;
  ensure(type_of(samples) == info_.sample_type, "samples have the type of the dataset");
  ensure(weights.size() == (split.weights.empty() ? 0 : labels.size()), "a weight for each label, or none");
  ensure(original_sizes.size() == (split.original_sizes.empty() ? 0 : 2 * labels.size()),
         "an original size for each label, or none");
  ensure(groups.size() == (split.groups.empty() ? 0 : labels.size()), "a group for each label, or none");
  ensure(first >= 0 && first + static_cast<std::int64_t>(labels.size()) <= split.count,
         "rows within the split");
  // The rows of the stored array: samples or, if they are encoded, bytes.
  const bool encoded = split.is_encoded();
  const std::size_t row_bytes = encoded ? 1 : split.sample_bytes();
  const std::int64_t row = encoded ? encoded_begin(split.ends, first) : first;
  const std::int64_t rows =
      encoded ? encoded_begin(split.ends, first + std::ssize(labels)) - row : std::ssize(labels);
  ensure(bytes_of(samples).size() == static_cast<std::size_t>(rows) * row_bytes, "a sample for each label");
  for (const std::optional<Fault>& fault :
       {sample_fault(samples, split.shape, info_.vocabulary), label_fault(labels, info_.classes),
        weight_fault(weights), size_fault(original_sizes), group_fault(groups)}) {
    if (!fault) continue;
    throw Error(fmt::format("{}: sample {} of split \"{}\" {}", file_.string(),
                            first + static_cast<std::int64_t>(fault->sample), name, fault->what));
  }
  write_rows(encoded ? split.encoded : split.samples, row, bytes_of(samples), row_bytes);
  write_rows(split.labels, first, std::as_bytes(labels), sizeof(std::int32_t));
  write_rows(split.weights, first, std::as_bytes(weights), sizeof(float));
  write_rows(split.original_sizes, first, std::as_bytes(original_sizes), 2 * sizeof(std::int32_t));
  write_rows(split.groups, first, std::as_bytes(groups), sizeof(std::int32_t));
}

void DatasetWriter::flush() {
  for (const fs::path& file : std::exchange(unsynced_, {})) os::File(file, os::Access::kWrite).sync();
}

// Rewrites the structure of each file around the samples that are in it.
void DatasetWriter::complete_files() {
  for (const Part& part : parts_of(temporary_, sizes_)) {
    hdf5::File structure = hdf5::File::create(part.file, hdf5::File::Existing::kKeepReserved);
    reserve(structure, part, sizes_, info_);
    structure.set_attribute(format::kFormat, format::kDataset);
    write_encoding(structure, part, sizes_, info_);
    structure.set_attribute(format::kClasses, info_.classes);
    structure.set_attribute(format::kClassNames, info_.class_names);
    if (!info_.channel_mean.empty()) {
      structure.set_attribute(format::kChannelMean, info_.channel_mean);
      structure.set_attribute(format::kChannelStd, info_.channel_std);
    }
    if (info_.vocabulary > 0) structure.set_attribute(format::kVocabulary, info_.vocabulary);
    structure.set_attribute(format::kProvenance, info_.provenance);
    structure.set_attribute(format::kContentHash, info_.content_hash);
    if (part.shards > 0) {
      structure.set_attribute(format::kShard, part.shard);
      structure.set_attribute(format::kShards, part.shards);
    }
    write_text(structure, format::kPreparation, info_.preparation);
    write_text(structure, format::kAssumptions, info_.assumptions);
    structure.close();
  }
}

DatasetInfo DatasetWriter::finish(const ReadSamples& read) {
  assert(creator_);
  flush();
  measure(splits_, info_, read);
  complete_files();
  os::replace_path(temporary_, file_);
  creator_ = false;
  return info_;
}

}  // namespace convoke::data

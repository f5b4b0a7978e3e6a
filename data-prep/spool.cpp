#include "spool.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <system_error>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/os/atomic_file.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

// Files of the folder: `lock`, held while a team works; `identity`; `samples`, with the values of item i at i
// * sample_bytes; `records`, with its record at i * sizeof(Record); `encoded-<process>`, with the pictures
// that a process encoded, one after the other; and `faults-<process>`, with a line "<item> <reason>TAB<hint>"
// for each bad item.
constexpr const char* kLock = "lock";
constexpr const char* kIdentity = "identity";
constexpr const char* kSamples = "samples";
constexpr const char* kRecords = "records";
constexpr std::string_view kEncoded = "encoded-";
constexpr std::string_view kFaults = "faults-";
constexpr char kBeforeHint = '\t';

// The folder is made for this purpose. A link to another folder, or a folder with other files, is not.
void require_ours(const fs::path& folder) {
  const fs::file_status there = fs::symlink_status(folder);
  if (!fs::exists(there) || (fs::is_directory(there) && !os::is_foreign(folder))) return;
  throw Error(
      fmt::format("{}: is not a folder of this user, and is needed for temporary data", folder.string()),
      "remove it, or choose another name for the output");
}

// A team that ends removes the folder. So the locked file may have lost its name, and then locks nothing.
os::File lock(const fs::path& folder) {
  for (;;) {
    require_ours(folder);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw Error(fmt::format("{}: cannot be created: {}", folder.string(), error.message()));
    os::File file;
    try {
      file = os::File(folder / kLock, os::Access::kCreate);
    } catch (const Error&) {
      if (fs::exists(folder)) throw;
      continue;  // removed since it was made
    }
    if (!file.try_lock()) {
      throw Error(fmt::format("{}: is in use: another run prepares the same dataset", folder.string()),
                  "wait until it has ended");
    }
    if (fs::equivalent(folder / kLock, os::path_of(file), error)) return file;
  }
}

// Removes the files of a run, except its lock.
void clear(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == kIdentity || name == kSamples || name == kRecords || name.starts_with(kEncoded) ||
        name.starts_with(kFaults))
      fs::remove(entry.path());
  }
}

// Samples need space twice: here and in the dataset.
void require_space(const fs::path& folder, std::uint64_t sample_bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error || space.available >= 2 * sample_bytes) return;
  throw Error(
      fmt::format("{}: the disk has {} left; {} of samples temporarily need twice their size",
                  folder.parent_path().string(), format_bytes(space.available), format_bytes(sample_bytes)),
      "choose a smaller --size, or another disk for --output");
}

}  // namespace

Spool::Spool(fs::path folder, const std::string& identity, std::size_t items, std::size_t sample_bytes,
             const Team& team)
    : folder_(std::move(folder)), items_(items), sample_bytes_(sample_bytes), team_index_(team.index) {
  const std::string full_identity =
      fmt::format("{} samples of {} bytes, records of {}\n{}", items, sample_bytes, sizeof(Record), identity);
  if (team.index == 0) lock_ = lock(folder_);
  if (team.index == 0 && read_text(folder_ / kIdentity) != full_identity) {
    clear(folder_);
    require_space(folder_, items * sample_bytes);
    os::File(folder_ / kSamples, os::Access::kTruncate).resize(items * sample_bytes);
    os::File(folder_ / kRecords, os::Access::kTruncate).resize(items * sizeof(Record));
    std::ofstream(folder_ / kIdentity, std::ios::binary) << full_identity;  // last: makes it resumable
  }
  if (team.index == 0) forget_bad();
  team.barrier();
  samples_ = os::File(folder_ / kSamples, os::Access::kReadWrite);
  records_ = os::File(folder_ / kRecords, os::Access::kReadWrite);
}

// A sample that an earlier run could not read may have been fixed since.
void Spool::forget_bad() {
  records_ = os::File(folder_ / kRecords, os::Access::kReadWrite);
  const std::vector<Record> all = records();
  for (std::size_t item = 0; item < all.size(); ++item) {
    if (all[item].state == Record::kBad) forget(item);
  }
  for (const fs::path& file : fault_files()) fs::remove(file);
}

std::vector<Record> Spool::records() const {
  std::vector<Record> all(items_);
  records_.read_at(0, std::as_writable_bytes(std::span(all)));
  return all;
}

fs::path Spool::encoded_file(int team_index) const {
  return folder_ / fmt::format("{}{}", kEncoded, team_index);
}

void Spool::put(std::size_t item, std::span<const std::byte> sample, Record record,
                std::span<const std::byte> encoded) {
  ensure(item < items_ && sample.size() == sample_bytes_, "the sample belongs to the spool");
  record.state = Record::kDone;
  record.checksum = crc32(sample);
  samples_.write_at(item * sample_bytes_, sample);
  if (!encoded.empty()) {
    if (!encoded_) encoded_ = os::File(encoded_file(team_index_), os::Access::kCreate);
    record.encoded_checksum = crc32(encoded);
    record.encoded_by = team_index_;
    record.encoded_at = encoded_.size();
    record.encoded_bytes = encoded.size();
    encoded_.write_at(record.encoded_at, encoded);
  }
  write_record(item, record);
}

void Spool::write_record(std::size_t item, const Record& record) {
  records_.write_at(item * sizeof(Record), std::as_bytes(std::span(&record, 1)));
}

std::vector<fs::path> Spool::fault_files() const {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    if (entry.path().filename().string().starts_with(kFaults)) files.push_back(entry.path());
  }
  return files;
}

void Spool::put_bad(std::size_t item, const Error& why) {
  const fs::path file = folder_ / fmt::format("{}{}", kFaults, team_index_);
  std::ofstream out(file, std::ios::binary | std::ios::app);
  const auto one_line = [](std::string text) {
    for (char& c : text) c = c == '\n' || c == kBeforeHint ? ' ' : c;
    return text;
  };
  out << item << ' ' << one_line(why.what()) << kBeforeHint << one_line(why.hint()) << '\n';
  out.close();
  if (!out) throw Error(fmt::format("{}: cannot be written", file.string()));
  write_record(item, {.state = Record::kBad});
}

void Spool::get(std::size_t item, const Record& record, std::span<std::byte> sample) const {
  ensure(item < items_ && sample.size() == sample_bytes_, "the sample belongs to the spool");
  samples_.read_at(item * sample_bytes_, sample);
  if (crc32(sample) != record.checksum) refuse(folder_ / kSamples, item);
}

std::vector<std::byte> Spool::get_encoded(std::size_t item, const Record& record) const {
  const fs::path file = encoded_file(record.encoded_by);
  std::vector<std::byte> encoded(record.encoded_bytes);
  os::File(file, os::Access::kRead).read_at(record.encoded_at, encoded);
  if (crc32(encoded) != record.encoded_checksum) refuse(file, item);
  return encoded;
}

void Spool::refuse(const fs::path& file, std::size_t item) const {
  throw Error(fmt::format("{}: sample {} differs from what was written", file.string(), item),
              fmt::format("remove {} and prepare again", folder_.string()));
}

std::map<std::size_t, Error> Spool::faults() const {
  std::map<std::size_t, Error> reasons;
  for (const fs::path& file : fault_files()) {
    std::istringstream in(read_text(file).value_or(""));
    std::size_t item = 0;
    std::string reason, hint;
    while (in >> item && in.get() && std::getline(in, reason, kBeforeHint) && std::getline(in, hint))
      reasons.emplace(item, Error(reason, hint));
  }
  return reasons;
}

void Spool::remove() {
  try {
    clear(folder_);
    fs::remove(folder_ / kLock);  // from here on, another team may use the folder
    fs::remove(folder_);
  } catch (const fs::filesystem_error&) {  // NOLINT: the next team removes what is left
  }
}

}  // namespace convoke::data_prep

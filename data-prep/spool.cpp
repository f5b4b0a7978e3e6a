#include "spool.hpp"

#include <fmt/format.h>

#include <fstream>
#include <system_error>

#include "convoke/core/checksum.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/text_file.hpp"

namespace convoke::data_prep {
namespace {

namespace fs = std::filesystem;

// The folder holds: `lock`, held while a team works; `identity`; `samples`, the values of item i at i *
// sample_bytes; `records`, its record at i * sizeof(Record); and `faults-<process>`, a line "<item> <reason>"
// for each bad item.
constexpr const char* kLock = "lock";
constexpr const char* kIdentity = "identity";
constexpr const char* kSamples = "samples";
constexpr const char* kRecords = "records";
constexpr std::string_view kFaults = "faults-";

os::File lock(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
  os::File file(folder / kLock, os::Access::kCreate);
  if (!file.try_lock()) {
    throw Error(fmt::format("{}: is in use: another run prepares the same", folder.string()),
                "wait until it has ended");
  }
  return file;
}

// Of a run that wanted something else.
void clear(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename() != kLock) fs::remove(entry.path());
  }
}

// Room for the samples twice: here and in the dataset.
void expect_room(const fs::path& folder, std::uint64_t sample_bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error || space.available >= 2 * sample_bytes) return;
  throw Error(
      fmt::format("{}: the disk has {} left; {} of samples need twice their size for a while",
                  folder.parent_path().string(), format_bytes(space.available), format_bytes(sample_bytes)),
      "choose a smaller --size, or another disk for --output");
}

}  // namespace

Spool::Spool(fs::path folder, const std::string& identity, std::size_t items, std::size_t sample_bytes,
             const Team& team)
    : folder_(std::move(folder)), items_(items), sample_bytes_(sample_bytes), team_index_(team.index) {
  const std::string full_identity = fmt::format("{} samples of {} bytes\n{}", items, sample_bytes, identity);
  if (team.index == 0) lock_ = lock(folder_);
  if (team.index == 0 && read_text(folder_ / kIdentity) != full_identity) {
    clear(folder_);
    expect_room(folder_, items * sample_bytes);
    os::File(folder_ / kSamples, os::Access::kTruncate).resize(items * sample_bytes);
    os::File(folder_ / kRecords, os::Access::kTruncate).resize(items * sizeof(Record));
    std::ofstream(folder_ / kIdentity, std::ios::binary) << full_identity;  // last: now it can be taken up
  }
  team.barrier();
  samples_ = os::File(folder_ / kSamples, os::Access::kReadWrite);
  records_ = os::File(folder_ / kRecords, os::Access::kReadWrite);
}

std::vector<Record> Spool::records() const {
  std::vector<Record> all(items_);
  records_.read_at(0, std::as_writable_bytes(std::span(all)));
  return all;
}

void Spool::put(std::size_t item, std::span<const std::byte> sample, Record record) {
  ensure(item < items_ && sample.size() == sample_bytes_, "a sample of the spool");
  record.state = Record::kDone;
  record.checksum = crc32(sample);
  samples_.write_at(item * sample_bytes_, sample);
  records_.write_at(item * sizeof(Record), std::as_bytes(std::span(&record, 1)));
}

void Spool::put_bad(std::size_t item, const std::string& reason) {
  const fs::path file = folder_ / fmt::format("{}{}", kFaults, team_index_);
  std::ofstream out(file, std::ios::binary | std::ios::app);
  std::string line = reason;
  for (char& c : line) c = c == '\n' ? ' ' : c;
  out << item << ' ' << line << '\n';
  out.close();
  if (!out) throw Error(fmt::format("{}: cannot be written", file.string()));
  const Record record{.state = Record::kBad};
  records_.write_at(item * sizeof(Record), std::as_bytes(std::span(&record, 1)));
}

void Spool::get(std::size_t item, const Record& record, std::span<std::byte> sample) const {
  ensure(item < items_ && sample.size() == sample_bytes_, "a sample of the spool");
  samples_.read_at(item * sample_bytes_, sample);
  if (crc32(sample) != record.checksum) {
    throw Error(fmt::format("{}: sample {} is not as it was written", (folder_ / kSamples).string(), item),
                fmt::format("remove {} and prepare again", folder_.string()));
  }
}

std::map<std::size_t, std::string> Spool::faults() const {
  std::map<std::size_t, std::string> reasons;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    if (!entry.path().filename().string().starts_with(kFaults)) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::size_t item = 0;
    std::string reason;
    while (in >> item && in.get() && std::getline(in, reason)) reasons[item] = reason;
  }
  return reasons;
}

void Spool::remove() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace convoke::data_prep

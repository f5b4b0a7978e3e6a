#include "decoding.hpp"

#include <array>
#include <chrono>
#include <iterator>
#include <tuple>

#include "convoke/core/error.hpp"

namespace convoke::data_prep {

void Decoding::update(const std::string& identity, bool keep_pairs) {
  if (spool_ && identity == identity_) return;
  identity_ = identity;
  format_ = source_.format();
  team_.barrier();
  spool_.reset();
  spool_.emplace(options_.output.string() + ".work", identity, source_.catalog().items.size(),
                 format_.sample_bytes(), team_);
  if (team_.index == 0) forget_changed();
  team_.barrier();
  decode();
  team_.barrier();
  records_ = spool_->records();
  findings_.faults = spool_->faults();
  if (keep_pairs) return;
  if (team_.index == 0) compare();
  share_pairs();
}

// At index 0: an earlier run may have read another picture from the same file.
void Decoding::forget_changed() {
  const std::span<const std::filesystem::path> files = source_.files();
  const std::vector<Record> before = spool_->records();
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (before[i].state == Record::kDone && before[i].file != stamp_of(files[i])) spool_->forget(i);
  }
}

void Decoding::decode() {
  const std::vector<Record> before = spool_->records();
  team_.barrier();  // all processes see the same state before any continues
  std::vector<std::size_t> pending;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].state == Record::kMissing) pending.push_back(i);
  }
  taken_up_ = static_cast<std::int64_t>(before.size() - pending.size());
  const Share mine(static_cast<std::int64_t>(pending.size()), team_);
  std::vector<std::byte> sample(format_.sample_bytes());
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t k = mine.first; k < mine.last; ++k) {
    decode_item(pending[static_cast<std::size_t>(k)], sample);
    if (options_.progress) options_.progress(k + 1 - mine.first, mine.size());
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const std::array<double, 2> work{static_cast<double>(mine.size()), seconds.count()};
  const std::vector<double> all = team_.gather(work);
  work_.clear();
  for (std::size_t i = 0; i < all.size(); i += 2)
    work_.push_back({static_cast<std::int64_t>(all[i]), all[i + 1]});
}

void Decoding::decode_item(std::size_t item, std::span<std::byte> sample) {
  const Item& listed = source_.catalog().items[item];
  if (!listed.fault.empty()) return spool_->put_bad(item, Error(listed.fault));
  const FileStamp stamp = source_.files().empty() ? FileStamp{} : stamp_of(source_.files()[item]);
  Original original;
  std::vector<std::byte> encoded;
  try {
    original = source_.read(item, sample);
    if (options_.encoding) encoded = encode(options_.encoding, original, listed.name, format_.shape, sample);
  } catch (const Error& error) {
    return spool_->put_bad(item, error);
  }
  Record record{.height = original.height, .width = original.width, .bytes = original.bytes, .file = stamp};
  if (is_picture()) {
    const Shape& shape = format_.shape;
    record.hash = perceptual_hash({reinterpret_cast<const std::uint8_t*>(sample.data()), sample.size()},
                                  shape[1], shape[2], shape[0]);
  }
  spool_->put(item, sample, record, encoded);
}

// At index 0.
void Decoding::compare() {
  findings_.duplicates = find_duplicates(records_, *spool_, format_.sample_bytes());
  if (is_picture()) {
    const Shape& shape = format_.shape;
    findings_.near_duplicates = find_near_duplicates(records_, *spool_, shape[1], shape[2], shape[0]);
  }
  pairs_ = findings_.duplicates;
  pairs_.insert(pairs_.end(), findings_.near_duplicates.begin(), findings_.near_duplicates.end());
}

void Decoding::share_pairs() {
  std::vector<std::uint64_t> count{pairs_.size()};
  team_.broadcast(count);
  std::vector<std::uint64_t> items(2 * count[0]);
  for (std::size_t i = 0; team_.index == 0 && i < pairs_.size(); ++i)
    std::tie(items[2 * i], items[2 * i + 1]) = pairs_[i];
  team_.broadcast(items);
  pairs_.clear();
  for (std::size_t i = 0; i < items.size(); i += 2) pairs_.emplace_back(items[i], items[i + 1]);
}

}  // namespace convoke::data_prep

#include <cstring>
#include <type_traits>

#include "convoke/core/error.hpp"
#include "dataset_parts.hpp"
#include "stored_dataset.hpp"

// The form in which the process that reads the structure of a folder of shards sends it to the others: the
// fields one after the other, in the order of code(), which is the same in both directions.

namespace convoke::data {
namespace {

class Writer {
 public:
  template <class T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string take() { return std::move(bytes_); }
  static std::filesystem::path folder() { return {}; }  // it may have another path on another host

 private:
  std::string bytes_;
};

class Reader {
 public:
  Reader(const std::string& bytes, const std::filesystem::path& folder) : bytes_(bytes), folder_(folder) {}

  template <class T>
  void value(T& value) {
    ensure(sizeof value <= bytes_.size() - at_, "the bytes have all fields");
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
  }

  const std::filesystem::path& folder() const { return folder_; }

 private:
  const std::string& bytes_;
  const std::filesystem::path& folder_;
  std::size_t at_ = 0;
};

template <class Coder, class List>
void code_list(Coder& coder, List& list) {
  std::uint64_t count = list.size();
  coder.value(count);
  list.resize(count);
  for (auto& entry : list) code(coder, entry);
}

template <class Coder, class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void code(Coder& coder, T& value) { coder.value(value); }

template <class Coder>
void code(Coder& coder, std::string& text) {
  code_list(coder, text);
}

template <class Coder>
void code(Coder& coder, Shape& shape) {
  std::vector<std::int64_t> extents = shape.extents();
  code_list(coder, extents);
  shape = Shape(std::move(extents));
}

template <class Coder>
void code(Coder& coder, StoredPiece& piece) {
  std::string file = piece.file.filename().string();
  bool contiguous = piece.offset.has_value();
  std::uint64_t offset = piece.offset.value_or(0);
  code(coder, piece.first);
  code(coder, piece.count);
  code(coder, file);
  code(coder, piece.path);
  code(coder, contiguous);
  code(coder, offset);
  piece.file = coder.folder() / file;
  if (contiguous) piece.offset = offset;
}

template <class Coder>
void code(Coder& coder, StoredSplit& split) {
  code(coder, split.name);
  code(coder, split.count);
  code(coder, split.type);
  code(coder, split.shape);
  for (const Column& column : kColumns) code_list(coder, split.*column.array);
  code_list(coder, split.ends);
}

template <class Coder>
void code(Coder& coder, DatasetInfo& info) {
  code(coder, info.sample_shape);
  code(coder, info.sample_type);
  code(coder, info.classes);
  code_list(coder, info.class_names);
  code_list(coder, info.channel_mean);
  code_list(coder, info.channel_std);
  code(coder, info.vocabulary);
  for (std::string* text : {&info.provenance, &info.content_hash, &info.preparation, &info.assumptions})
    code(coder, *text);
}

}  // namespace

std::string to_bytes(Stored stored) {
  Writer writer;
  code(writer, stored.info);
  code_list(writer, stored.splits);
  return writer.take();
}

Stored stored_from_bytes(const std::string& bytes, const std::filesystem::path& folder) {
  Reader reader(bytes, folder);
  Stored stored;
  code(reader, stored.info);
  code_list(reader, stored.splits);
  return stored;
}

}  // namespace convoke::data

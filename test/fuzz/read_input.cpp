// Reads any bytes as each of the files that Convoke reads, except models of other programs (read_model.cpp):
// a value or an Error, never a crash. With libFuzzer (preset "fuzz") it searches for new inputs; otherwise
// replay.cpp runs it on the corpus and on changed copies.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "convoke/archive/tar.hpp"
#include "convoke/archive/zip.hpp"
#include "convoke/core/error.hpp"
#include "convoke/data/dataset.hpp"
#include "convoke/data_prep/files/npy.hpp"
#include "convoke/data_prep/files/tfrecord.hpp"
#include "convoke/data_prep/sources/source_table.hpp"
#include "convoke/metrics/json.hpp"
#include "convoke/os/file.hpp"
#include "convoke/pictures/decode.hpp"
#include "convoke/recipe/recipe.hpp"
#include "convoke/run/checkpoint.hpp"
#include "convoke/run/model_file.hpp"
#include "convoke/study/running/study_file.hpp"
#include "convoke/study/tables/measurement.hpp"

using namespace convoke;

namespace {

/// An input, as bytes, as text, and as a file.
struct Input {
  std::span<const std::byte> bytes;
  std::string text;
  std::filesystem::path file;
};

// No archive of the corpus has more files, and hostile ones may have millions.
constexpr int kMostMembers = 20;

void read_picture(const Input& input) { pictures::decode_picture(input.bytes, "input", 3); }
void read_npy(const Input& input) { data_prep::read_npy(input.file); }
void read_tar(const Input& input) {
  const auto bytes = archive::open_bytes(input.file);
  archive::TarReader tar(*bytes);
  archive::TarMember member;
  for (int i = 0; i < kMostMembers && tar.next(member);) ++i;
}
void read_zip(const Input& input) {
  const archive::ZipFile zip(input.file);
  std::array<std::byte, 4096> some{};
  for (const auto& member :
       std::span(zip.members()).first(std::min<std::size_t>(zip.members().size(), kMostMembers)))
    zip.open(member.name)->read_some(0, some);
}
void read_tfrecord(const Input& input) {
  data_prep::TfRecordReader records(archive::open_bytes(input.file));
  data_prep::TfRecord record;
  for (int i = 0; i < kMostMembers && records.next(record); ++i)
    data_prep::parse_tf_example(record.data, "input");
}
void read_source(const Input& input, const std::string& kind) {
  const auto source = data_prep::open_source(input.file, {}, kind);
  const auto& items = source->catalog().items;
  const auto whole = std::find_if(items.begin(), items.end(),
                                  [](const data_prep::Item& item) { return item.fault.empty(); });
  if (whole == items.end()) return;
  const std::array<std::size_t, 1> item{static_cast<std::size_t>(whole - items.begin())};
  source->fit(item);
  const data_prep::SampleFormat format = source->format();
  std::vector<std::byte> sample(static_cast<std::size_t>(format.shape.elements()) *
                                data::size_of(format.type));
  source->read(item[0], sample);
}
void read_dataset(const Input& input) { data::Dataset::open(input.file, {"train", "test"}); }
void read_models(const Input& input) { run::load_models(input.file); }
void read_checkpoint(const Input& input) { run::Checkpoints({}, {}, {}, {}).read(input.file); }
void read_recipe(const Input& input) { recipe::Recipe::parse(input.text, "input", {}); }
void read_study(const Input& input) { study::StudyFile::parse(input.text, "input"); }
void read_measurements(const Input& input) { study::read_measurements(input.file); }
void read_published(const Input& input) { study::read_table(input.file); }
void read_log(const Input& input) { metrics::read_json_lines(input.file); }

template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const Error&) {  // the right answer for most inputs
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  os::File file = os::File::in_memory("fuzz");
  const Input input{std::as_bytes(std::span(data, size)), {data, data + size}, os::path_of(file)};
  file.write_at(0, input.bytes);
  for (const auto read :
       {read_picture, read_npy, read_tar, read_zip, read_tfrecord, read_dataset, read_models, read_checkpoint,
        read_recipe, read_study, read_measurements, read_published, read_log}) {
    attempt([&] { read(input); });
  }
  for (const std::string& kind : data_prep::source_kinds()) attempt([&] { read_source(input, kind); });
  return 0;
}

#include "convoke/metrics/csv_log.hpp"

#include <array>
#include <fstream>
#include <string>

#include "convoke/core/error.hpp"

namespace convoke::metrics {
namespace {

constexpr std::array<std::string_view, 11> kColumns{"event",
                                                    "member",
                                                    "epoch",
                                                    "step",
                                                    "loss",
                                                    "accuracy",
                                                    "validation_loss",
                                                    "validation_accuracy",
                                                    "learning_rate",
                                                    "images_per_second",
                                                    "seconds"};

std::string header() {
  std::string line;
  for (const std::string_view column : kColumns) line += (line.empty() ? "" : ",") + std::string(column);
  return line;
}

// Text unchanged, numbers as in JSON.
std::string cell(const Value* value) {
  if (value == nullptr) return "";
  const auto* const text = std::get_if<std::string>(&value->data());
  return text != nullptr ? *text : value->to_string();
}

}  // namespace

std::span<const std::string_view> CsvLog::columns() { return kColumns; }

CsvLog::CsvLog(const std::filesystem::path& file) : is_new_(!drop_unfinished_line(file)), file_(file) {
  if (is_new_) {
    file_.append(header() + "\n");
    return;
  }
  std::ifstream in(file, std::ios::binary);
  std::string first;
  std::getline(in, first);
  if (first == header()) return;
  throw Error(file.string() + ": its columns are not " + header(),
              "another version of Convoke wrote it; move it away");
}

void CsvLog::append(const Settings& record) {
  if (record.find("loss") == nullptr && record.find("validation_loss") == nullptr) return;
  std::string line;
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    line += (c == 0 ? "" : ",") + cell(record.find(kColumns[c]));
  }
  file_.append(line + "\n");
}

}  // namespace convoke::metrics

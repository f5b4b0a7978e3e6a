#include "convoke/recipe/section_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "convoke/core/error.hpp"

namespace convoke::recipe {

SectionReader::SectionReader(const TomlDocument& document, std::string section, const std::string& whole)
    : document_(document),
      section_(std::move(section)),
      what_(section_.empty() ? whole : "[" + section_ + "]") {
  if (section_.empty()) {
    settings_ = document.settings;
  } else if (const Value* value = document.settings.find(section_)) {
    if (value->table() == nullptr) {
      throw Error(fmt::format("{}: \"{}\" must be a section, but is {} ({})", document.place(section_),
                              section_, value->kind(), value->to_string()),
                  fmt::format("write [{}] on a line of its own and its keys below", section_));
    }
    settings_ = *value->table();
  }
}

std::string SectionReader::place(std::string_view key) const {
  return document_.place(section_.empty() ? std::string(key) : fmt::format("{}.{}", section_, key));
}

Settings SectionReader::only(std::string_view key) const {
  Settings one;
  if (const Value* value = settings_.find(key)) one.set(key, *value);
  one.set_where(place(key));
  return one;
}

std::int64_t SectionReader::get_count(std::string_view key, std::int64_t fallback, std::int64_t minimum) {
  const std::int64_t count = get(key, fallback);
  check(key, count >= minimum, fmt::format("at least {}", minimum));
  return count;
}

bool SectionReader::has(std::string_view key) { return find(key) != nullptr; }

const Value* SectionReader::find(std::string_view key) {
  known_.emplace_back(key);
  return settings_.find(key);
}

bool SectionReader::holds_text(std::string_view key) const {
  const Value* value = settings_.find(key);
  return value != nullptr && std::holds_alternative<std::string>(value->data());
}

std::string SectionReader::require_string(std::string_view key) {
  return alone(key, [&](SettingsReader& read) { return read.require_string(key); });
}

Settings SectionReader::table(std::string_view key) {
  return alone(key, [&](SettingsReader& read) { return read.table(key); });
}

std::vector<Settings> SectionReader::tables(std::string_view key) {
  return alone(key, [&](SettingsReader& read) { return read.tables(key); });
}

void SectionReader::check(std::string_view key, bool holds, std::string_view expected) const {
  if (holds) return;
  const Value* value = settings_.find(key);
  fail(key, fmt::format("\"{}\" must be {}, but is {}", key, expected,
                        value == nullptr ? "missing" : value->to_string()));
}

void SectionReader::fail(std::string_view key, const std::string& message, std::string hint) const {
  throw Error(fmt::format("{}: {}: {}", place(key), what_, message), std::move(hint));
}

void SectionReader::finish() const {
  for (const auto& [key, value] : settings_.entries()) {
    const Settings one = only(key);
    SettingsReader read(one, what_);
    for (const std::string& known : known_) read.has(known);
    read.finish();
  }
}

}  // namespace convoke::recipe

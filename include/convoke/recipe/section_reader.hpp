#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/core/keys.hpp"
#include "convoke/core/settings.hpp"
#include "convoke/recipe/toml.hpp"

namespace convoke::recipe {

/// A SettingsReader for one section of a TOML document, whose messages name the line of the key rather than
/// of the section, or the --set that it came from.
class SectionReader {
  // Reads `key` in a table that holds nothing else and stands where the key does.
  template <class Read>
  auto alone(std::string_view key, Read read) {
    known_.emplace_back(key);
    const Settings one = only(key);
    SettingsReader reader(one, what_);
    return read(reader);
  }

 public:
  /// `section`: "train", or "" for the keys at the top. A section that is not there is an empty one. Throws
  /// Error if it is not a table. `whole`: what the document is, for messages about keys at the top.
  /// `document` must outlive the reader.
  SectionReader(const TomlDocument& document, std::string section, const std::string& whole = "recipe");

  template <class T>
  auto get(std::string_view key, const T& fallback) {
    return alone(key, [&](SettingsReader& read) { return read.get(key, fallback); });
  }
  /// Reads all keys of a section into `options`.
  template <class Keys, class Options>
  void read(const Keys& keys, Options& options) {
    for (const auto& key : keys) {
      alone(key.name, [&](SettingsReader& read) { key.read(read, key, options); });
    }
  }
  /// At least `minimum`.
  std::int64_t get_count(std::string_view key, std::int64_t fallback, std::int64_t minimum);
  /// True if the key is there; marks it as known.
  bool has(std::string_view key);
  /// The value as it was written, null if the key is not there; marks it as known.
  const Value* find(std::string_view key);
  /// True if the key is there and its value is text, of a key that may hold something else too.
  bool holds_text(std::string_view key) const;
  std::string require_string(std::string_view key);
  Settings table(std::string_view key);
  std::vector<Settings> tables(std::string_view key);

  /// Fails unless `holds`: `"batch" must be at least 1, but is 0`.
  void check(std::string_view key, bool holds, std::string_view expected) const;
  [[noreturn]] void fail(std::string_view key, const std::string& message, std::string hint = {}) const;
  /// Calls `work`; an Error of it gets the place of `key` in front.
  template <class Work>
  auto at(std::string_view key, Work work) const {
    try {
      return work();
    } catch (const Error& error) {
      throw Error(place(key) + ": " + error.what(), error.hint());
    }
  }
  /// Where `key` was written; the section if it was not.
  std::string place(std::string_view key) const;
  /// Throws if the section holds a key that was not asked for.
  void finish() const;

 private:
  Settings only(std::string_view key) const;

  const TomlDocument& document_;
  std::string section_;
  std::string what_;
  Settings settings_;
  std::vector<std::string> known_;
};

}  // namespace convoke::recipe

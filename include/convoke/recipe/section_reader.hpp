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

/// A SettingsReader for one section of a TOML document. Its messages name the line of the key (not of the
/// section), or the --set argument that set it.
class SectionReader {
  // Reads `key` in a table that holds only this key and has its place.
  template <class Read>
  auto alone(std::string_view key, Read read) {
    known_.emplace_back(key);
    const Settings one = only(key);
    SettingsReader reader(one, what_);
    return read(reader);
  }

 public:
  /// `section`: "train", or "" for the keys at the top. A missing section counts as empty. Throws Error if it
  /// is not a table. `whole`: the name of the document, for messages about keys at the top. `document` must
  /// outlive the reader.
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
  /// Reads a number of at least `minimum`.
  std::int64_t get_count(std::string_view key, std::int64_t fallback, std::int64_t minimum);
  /// Returns true if the key is present; marks it as known.
  bool has(std::string_view key);
  /// Returns the value as written, or null if the key is missing; marks it as known.
  const Value* find(std::string_view key);
  /// Returns true if the key is present and its value is text; for keys that also accept other types.
  bool holds_text(std::string_view key) const;
  std::string require_string(std::string_view key);
  Settings table(std::string_view key);
  std::vector<Settings> tables(std::string_view key);

  /// Throws Error unless `holds`: `"batch" must be at least 1, but is 0`.
  void check(std::string_view key, bool holds, std::string_view expected) const;
  [[noreturn]] void fail(std::string_view key, const std::string& message, std::string hint = {}) const;
  /// Calls `work`; prefixes its Errors with the place of `key`, unless they name its file already.
  template <class Work>
  auto at(std::string_view key, Work work) const {
    try {
      return work();
    } catch (const Error& error) {
      const std::string where = place(key);
      if (std::string_view(error.what()).starts_with(where.substr(0, where.rfind(':')) + ": ")) throw;
      throw Error(where + ": " + error.what(), error.hint());
    }
  }
  /// Returns the place of `key`; the place of the section if the key is missing.
  std::string place(std::string_view key) const;
  /// Throws Error if the section has a key that was not read.
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

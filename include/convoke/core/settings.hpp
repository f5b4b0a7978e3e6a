#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "convoke/core/error.hpp"

namespace convoke {

class Settings;

/// A value of a recipe or of a stored graph, of a type that both TOML and JSON have.
class Value {
 public:
  using Array = std::vector<Value>;
  using Variant = std::variant<bool, std::int64_t, double, std::string, Array, std::vector<Settings>>;

  // Implicit conversions are intended, hence NOLINT. All are defined where Settings is complete.
  Value(bool value);              // NOLINT
  Value(int value);               // NOLINT
  Value(std::int64_t value);      // NOLINT
  Value(double value);            // NOLINT
  Value(const char* value);       // NOLINT
  Value(std::string_view value);  // NOLINT
  Value(std::string value);       // NOLINT
  Value(Array value);             // NOLINT
  Value(Settings value);          // NOLINT
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  const Variant& data() const { return data_; }
  /// Returns the value as a T: bool, std::int64_t, double (also a whole number) or std::string; none if it
  /// has another type.
  template <class T>
  std::optional<T> as() const {
    if (const auto* value = std::get_if<T>(&data_)) return *value;
    if constexpr (std::is_same_v<T, double>) {
      if (const auto* whole = std::get_if<std::int64_t>(&data_)) return static_cast<double>(*whole);
    }
    return std::nullopt;
  }
  /// Returns the table, or null if this is not a table.
  const Settings* table() const;
  Settings* table();
  /// Returns "a whole number", "text", "a list", ... for messages.
  std::string_view kind() const;
  /// Returns the value in TOML: `0.001`, `"adam"`, `[3, 3]`, `{ name = "sgd" }`.
  std::string to_string() const;
  /// Returns a text as it is, and every other value in TOML.
  std::string plain_text() const;

  friend bool operator==(const Value&, const Value&);

 private:
  Variant data_;  // a table is a vector of exactly one Settings, which may be incomplete here
};

/// An ordered table of named values. The table, and each value that was read from a text, has a place for
/// messages: "recipe.toml:14".
class Settings {
 public:
  using Entry = std::pair<std::string, Value>;

  Settings() = default;
  Settings(std::initializer_list<Entry> entries) : entries_(entries) {}

  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }
  const Value* find(std::string_view key) const;
  /// Replaces the value of `key`, or adds it at the end.
  void set(std::string_view key, Value value);
  void set(std::string_view key, Value value, std::string place);
  /// Sets a value by its path and creates missing tables: set_path("train.optimizer.name", "sgd"). Text on
  /// the path becomes a table of that name (see SettingsReader::table). `place`: of the value; tables in
  /// tables that it changes have it too. Throws Error if the path runs into a value that is not a table, or
  /// has an empty key.
  void set_path(std::string_view path, Value value, const std::string& place = {});

  /// Gives the value at `path` ("train.micro_batch") another key in its table; without effect if there is
  /// none.
  void rename(std::string_view path, std::string_view key);

  const std::string& where() const { return where_; }
  void set_where(std::string where) { where_ = std::move(where); }
  /// Returns the place of the value at `path`, such as "train.epochs", or of the innermost table or value on
  /// the path that has one.
  const std::string& place(std::string_view path) const;

  /// Equal if the entries and their order are equal; places do not count.
  friend bool operator==(const Settings& a, const Settings& b) { return a.entries_ == b.entries_; }

 private:
  Value* find_mutable(std::string_view key) { return const_cast<Value*>(find(key)); }

  std::vector<Entry> entries_;
  std::vector<std::pair<std::string, std::string>>
      places_;  // of keys; empty unless they were read from a text
  std::string where_;
};

/// Reads a table key by key with types, and finally refuses keys that were not requested, naming the nearest
/// known key.
///
///     SettingsReader read(settings, "optimizer");
///     const double rate = read.get("learning_rate", 1e-3);
///     read.finish();
///
/// Every failure is an Error that begins with the place of the key, or of the table if the key has none.
class SettingsReader {
 public:
  /// `settings` must outlive the reader; `what` names the table in messages, e.g. `layer "conv2d"`.
  SettingsReader(const Settings& settings, std::string what);

  /// True if the key is present; marks it as known.
  bool has(std::string_view key) { return find(key) != nullptr; }
  /// Returns the value as written, null if the key is absent; marks it as known.
  const Value* find(std::string_view key);
  /// True if the key is present and its value is text, for a key that may have other types.
  bool holds_text(std::string_view key) const;
  /// The place of the key, or of the table.
  const std::string& place(std::string_view key) const { return settings_.place(key); }

  bool get(std::string_view key, bool fallback);
  std::int64_t get(std::string_view key, std::int64_t fallback);
  std::int64_t get(std::string_view key, int fallback) { return get(key, std::int64_t{fallback}); }
  /// Accepts whole numbers.
  double get(std::string_view key, double fallback);
  std::string get(std::string_view key, const std::string& fallback);
  std::string get(std::string_view key, const char* fallback) { return get(key, std::string(fallback)); }
  /// Reads a list of whole numbers; a single number counts as a list of one.
  std::vector<std::int64_t> get(std::string_view key, const std::vector<std::int64_t>& fallback);
  /// Reads a list of numbers; a single number counts as a list of one.
  std::vector<double> get(std::string_view key, const std::vector<double>& fallback);
  std::vector<std::string> get(std::string_view key, const std::vector<std::string>& fallback);

  /// Reads a whole number of at least `minimum`.
  std::int64_t get_count(std::string_view key, std::int64_t fallback, std::int64_t minimum);

  /// Returns the value as written. Throws if the key is absent, as the next two do.
  const Value& require(std::string_view key);
  std::int64_t require_int(std::string_view key);
  std::string require_string(std::string_view key);
  /// Reads a nested table; empty if the key is absent. Text means a table with a name: `optimizer = "adam"`
  /// is `optimizer = { name = "adam" }`.
  Settings table(std::string_view key);
  /// Reads a list of tables; empty if the key is absent.
  std::vector<Settings> tables(std::string_view key);

  /// Fails unless `holds`: `"momentum" must be at least 0 and below 1, but is 1.5`. For ranges of values that
  /// get() returned.
  void check(std::string_view key, bool holds, std::string_view expected, std::string hint = {}) const;

  /// Calls `work`; puts the place of the key in front of an Error that it throws, unless that names the file.
  template <class Work>
  auto at(std::string_view key, Work work) const {
    try {
      return work();
    } catch (const Error& error) {
      const std::string& where = place(key);
      const std::string file = where.substr(0, where.rfind(':'));
      if (file.empty() || std::string_view(error.what()).starts_with(file + ":")) throw;
      throw Error(where + ": " + error.what(), error.hint());
    }
  }
  template <class Work>
  auto at(Work work) const {
    return at({}, std::move(work));
  }

  /// Throws if the table has a key that was not requested.
  void finish();

  /// Throws an Error with this table's place in front: "recipe.toml:14: layer "conv2d": <message>".
  [[noreturn]] void fail(const std::string& message, std::string hint = {}) const;
  /// The same, with the place of the key.
  [[noreturn]] void fail_at(std::string_view key, const std::string& message, std::string hint = {}) const;

 private:
  template <class T>
  T get_one(std::string_view key, const T& fallback, std::string_view expected);
  template <class T>
  std::vector<T> get_list(std::string_view key, const std::vector<T>& fallback, std::string_view expected);
  Settings placed(std::string_view key, Settings table) const;  ///< gives a table without a place its key's
  [[noreturn]] void wrong_type(std::string_view key, const Value& value, std::string_view expected) const;

  const Settings& settings_;
  std::string what_;
  std::vector<std::string> known_;
};

}  // namespace convoke

#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "convoke/core/error.hpp"

namespace convoke {

class Settings;

/// One value of a recipe or of a stored graph: what TOML and JSON have in common.
class Value {
 public:
  using Array = std::vector<Value>;
  using Variant = std::variant<bool, std::int64_t, double, std::string, Array, std::vector<Settings>>;

  // Conversions are the point, hence NOLINT. All are defined where Settings is complete.
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
  /// The table within, or null if this is not a table.
  const Settings* table() const;
  Settings* table();
  /// "a whole number", "text", "a list", ...: for messages.
  std::string_view kind() const;
  /// As TOML writes it: `0.001`, `"adam"`, `[3, 3]`, `{ name = "sgd" }`.
  std::string to_string() const;

  friend bool operator==(const Value&, const Value&);

 private:
  Variant data_;  // a table is a vector of exactly one Settings, which may be incomplete here
};

/// An ordered table of named values, and where it was written ("recipe.toml:14") for messages.
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
  /// Sets by path, making tables on the way: set_path("train.optimizer.name", "sgd").
  /// Text on the way becomes a table of that name (see SettingsReader::table). Throws Error where the path
  /// runs into a value that is not a table, or names an empty key.
  void set_path(std::string_view path, Value value);

  const std::string& where() const { return where_; }
  void set_where(std::string where) { where_ = std::move(where); }

  /// Equal entries in the same order; where they were written does not count.
  friend bool operator==(const Settings& a, const Settings& b) { return a.entries_ == b.entries_; }

 private:
  std::vector<Entry> entries_;
  std::string where_;
};

/// Reads a table key by key with types, and at the end refuses keys that were not asked for, naming the
/// nearest known key.
///
///     SettingsReader read(settings, "optimizer");
///     const double rate = read.get("learning_rate", 1e-3);
///     read.finish();
///
/// Every failure is an Error that begins with where the table was written.
class SettingsReader {
 public:
  /// `settings` must outlive the reader; `what` names the table in messages, e.g. `layer "conv2d"`.
  SettingsReader(const Settings& settings, std::string what);

  /// True if the key is there; marks it as known.
  bool has(std::string_view key);
  /// The value as it was written, null if the key is not there; marks it as known.
  const Value* find(std::string_view key) { return look_up(key); }
  /// True if the key is there and its value is text, for a key that may hold something else too.
  bool holds_text(std::string_view key) const;
  /// Where the table was written.
  const std::string& where() const { return settings_.where(); }

  bool get(std::string_view key, bool fallback);
  std::int64_t get(std::string_view key, std::int64_t fallback);
  std::int64_t get(std::string_view key, int fallback) { return get(key, std::int64_t{fallback}); }
  /// Whole numbers are taken too.
  double get(std::string_view key, double fallback);
  std::string get(std::string_view key, const std::string& fallback);
  std::string get(std::string_view key, const char* fallback) { return get(key, std::string(fallback)); }
  /// A list of whole numbers; a single number counts as a list of one.
  std::vector<std::int64_t> get(std::string_view key, const std::vector<std::int64_t>& fallback);
  /// A list of numbers; a single number counts as a list of one.
  std::vector<double> get(std::string_view key, const std::vector<double>& fallback);
  std::vector<std::string> get(std::string_view key, const std::vector<std::string>& fallback);

  /// Throws if the key is absent.
  void require_value(std::string_view key) { require(key); }
  std::int64_t require_int(std::string_view key);
  std::string require_string(std::string_view key);
  /// A nested table; an empty one if the key is absent. Text stands for a table of one name: `optimizer =
  /// "adam"` is `optimizer = { name = "adam" }`.
  Settings table(std::string_view key);
  /// A list of tables; empty if the key is absent.
  std::vector<Settings> tables(std::string_view key);

  /// Fails unless `holds`: `"momentum" must be at least 0 and below 1, but is 1.5`. For ranges of what get()
  /// returned.
  void check(std::string_view key, bool holds, std::string_view expected, std::string hint = {}) const;

  /// Calls `work`; an Error of it gets the table's place in front.
  template <class Work>
  auto at(Work work) const {
    try {
      return work();
    } catch (const Error& error) {
      throw Error(where() + ": " + error.what(), error.hint());
    }
  }

  /// Throws if the table holds a key that was not asked for.
  void finish();

  /// An Error with this table's place in front: "recipe.toml:14: layer "conv2d": <message>".
  [[noreturn]] void fail(const std::string& message, std::string hint = {}) const;

 private:
  const Value* look_up(std::string_view key);
  const Value& require(std::string_view key);
  Settings placed(Settings table) const;  ///< a table without a place of its own is where this one is
  [[noreturn]] void wrong_type(std::string_view key, const Value& value, std::string_view expected) const;

  const Settings& settings_;
  std::string what_;
  std::vector<std::string> known_;
};

}  // namespace convoke

#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "convoke/core/settings.hpp"
#include "convoke/core/table.hpp"

// A key of a recipe is one entry of an array: the member that holds its value, and its facts. Reader, writer,
// resume fingerprint, messages and documentation follow from the entry:
//
//     constexpr std::array kAdamKeys{
//         key<&AdamOptions::beta_1>({.name = "beta_1", .range = {.least = 0, .below = 1}, .help = "..."}),
//     };
//     read_keys(kAdamKeys, reader, options);
//     write_keys(kAdamKeys, options, settings);
namespace convoke {

/// The effect of a key on a run that is resumed.
enum class Effect {
  kResult,     ///< decides the result: a resumed run must have the same value
  kNewResult,  ///< the same, but runs older than the key used its default
  kNone,       ///< a name, a place, or time and memory: may change
};

/// The numbers that a key may have. All are finite.
struct Range {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double least = -kInfinity, above = -kInfinity;
  double largest = kInfinity, below = kInfinity;

  bool contains(double value) const;
  /// Returns "at least 0 and below 1"; empty if all numbers are allowed.
  std::string text() const;
};

struct OptionTable;

/// The facts of a key, independent of the member that holds its value.
struct KeyFacts {
  std::string_view name;
  Range range = {};                ///< for a number, or for each number of a list
  std::string_view word = {};      ///< text that means 0, such as "auto"; other numbers are at least 1
  std::string_view expected = {};  ///< the condition on a value, if `range` does not express it
  std::string_view noun = {};      ///< the noun for the names in messages; empty: the name of the key
  std::vector<std::string> (*names)() = nullptr;  ///< the words that are allowed
  Effect effect = Effect::kResult;
  bool required = false;
  bool omit_default = false;       ///< not written if it has its default
  std::string_view fallback = {};  ///< the default in words, if it depends on other keys
  std::string_view help = {};
  std::vector<OptionTable> (*tables)() = nullptr;  ///< the tables that are allowed
  std::string_view type = {};                      ///< "whole number"; set by key()
};

/// A key whose value is a member of Options.
template <class Options>
struct Key : KeyFacts {
  using Holder = Options;
  void (*read)(SettingsReader& read, const KeyFacts& key, Options& options) = nullptr;
  /// Null for a shorthand key, which sets other keys when it is read. Returns none if the key is not written.
  std::optional<Value> (*write)(const KeyFacts& key, const Options& options) = nullptr;
};

/// The documentation of a key.
struct KeyDescription {
  std::string name;
  std::string type;      ///< "whole number"
  std::string fallback;  ///< the default in TOML; empty: none
  std::string range;     ///< "at least 1", or the allowed words; empty: any value
  Effect effect = Effect::kResult;
  bool required = false;
  std::string help;
  std::vector<OptionTable> (*tables)() = nullptr;
};

/// The keys of a nested table: { name = "adam", beta_1 = 0.9 }.
struct OptionTable {
  std::string name;  ///< empty: keys of every table at this place
  std::vector<KeyDescription> keys;
};

/// True if the key is present. Throws Error if it is required and absent.
bool is_written(SettingsReader& read, const KeyFacts& key);

/// Reads `key` if it is present. Throws Error for another type or a value out of range, with the key's help
/// as its hint.
void read_value(SettingsReader& read, const KeyFacts& key, bool& value);
void read_value(SettingsReader& read, const KeyFacts& key, std::int64_t& value);
void read_value(SettingsReader& read, const KeyFacts& key, double& value);
void read_value(SettingsReader& read, const KeyFacts& key, std::string& value);
void read_value(SettingsReader& read, const KeyFacts& key, std::vector<std::string>& value);
void read_value(SettingsReader& read, const KeyFacts& key, std::vector<std::int64_t>& value);
void read_value(SettingsReader& read, const KeyFacts& key, std::vector<double>& value);
/// Reads the interval [least, largest].
void read_value(SettingsReader& read, const KeyFacts& key, std::array<double, 2>& value);

Value to_value(const KeyFacts& key, bool value);
Value to_value(const KeyFacts& key, std::int64_t value);
Value to_value(const KeyFacts& key, double value);
Value to_value(const KeyFacts& key, const std::string& value);
template <class T>
Value to_value(const KeyFacts&, const std::vector<T>& list) {
  return Value::Array(list.begin(), list.end());
}
Value to_value(const KeyFacts& key, const std::array<double, 2>& value);

/// Fails unless `holds`: `"beta_1" must be at least 0 and below 1, but is 1.5`, with the key's help as hint.
/// `expected` replaces the condition in the facts.
void check_key(const SettingsReader& read, const KeyFacts& key, bool holds, std::string_view expected = {});

/// `fallback`: the default, or none.
KeyDescription describe_key(const KeyFacts& key, const std::optional<Value>& fallback);

namespace keys {

template <class Member>
struct Part;
template <class Options, class Type>
struct Part<Type Options::*> {
  using Holder = Options;
};

/// A member, or a member of a member, ...
template <auto kFirst, auto... kRest>
struct Path {
  using Holder = typename Part<decltype(kFirst)>::Holder;  ///< the struct that contains the first member

  template <class Options>
  static constexpr auto& in(Options& options) {
    return ((options.*kFirst).*....*kRest);
  }
  using Held = std::remove_cvref_t<decltype(((std::declval<Holder&>().*kFirst).*....*kRest))>;
};

/// The type that is read for a value of type T.
template <class T>
using Stored = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::int64_t,
                                  std::conditional_t<std::is_floating_point_v<T>, double, T>>;

constexpr std::string_view type_name(const bool*) { return "true or false"; }
constexpr std::string_view type_name(const std::int64_t*) { return "whole number"; }
constexpr std::string_view type_name(const double*) { return "number"; }
constexpr std::string_view type_name(const std::string*) { return "text"; }
constexpr std::string_view type_name(const std::vector<std::string>*) { return "list of texts"; }
constexpr std::string_view type_name(const std::vector<std::int64_t>*) { return "list of whole numbers"; }
constexpr std::string_view type_name(const std::vector<double>*) { return "list of numbers"; }
constexpr std::string_view type_name(const std::array<double, 2>*) { return "two numbers"; }

}  // namespace keys

/// Makes the key of a member, or of a member of a member: key<&TrainRecipe::update,
/// &UpdateOptions::ema>({...}). The namespace of another type of value has read_value(), to_value() and
/// type_name() for it.
template <auto... kMembers>
constexpr auto key(KeyFacts facts) {
  using Path = keys::Path<kMembers...>;
  using Options = typename Path::Holder;
  using Stored = keys::Stored<typename Path::Held>;
  using keys::type_name;
  if (facts.type.empty()) facts.type = type_name(static_cast<const Stored*>(nullptr));
  return Key<Options>{facts,
                      [](SettingsReader& read, const KeyFacts& k, Options& options) {
                        auto& held = Path::in(options);
                        auto value = static_cast<Stored>(held);
                        read_value(read, k, value);
                        held = static_cast<typename Path::Held>(std::move(value));
                      },
                      [](const KeyFacts& k, const Options& options) -> std::optional<Value> {
                        return to_value(k, static_cast<Stored>(Path::in(options)));
                      }};
}

/// Makes the key of a member that is one of the values of `kNames`, an array of Named.
template <const auto& kNames, auto... kMembers>
constexpr auto choice(KeyFacts facts) {
  using Path = keys::Path<kMembers...>;
  using Options = typename Path::Holder;
  facts.type = "text";
  facts.names = [] { return names_in(kNames); };
  return Key<Options>{facts,
                      [](SettingsReader& read, const KeyFacts& k, Options& options) {
                        auto& held = Path::in(options);
                        const std::string name = read.get(k.name, name_of(kNames, held));
                        held =
                            find_in(kNames, name, k.noun.empty() ? k.name : k.noun, read.place(k.name)).value;
                      },
                      [](const KeyFacts&, const Options& options) -> std::optional<Value> {
                        return Value(name_of(kNames, Path::in(options)));
                      }};
}

/// Reads all keys of a table.
template <class Keys, class Options>
void read_keys(const Keys& keys, SettingsReader& read, Options& options) {
  for (const auto& key : keys) key.read(read, key, options);
}

/// Writes all keys of a table that have a writer; defaults too, but for `omit_default`.
template <class Keys, class Options>
void write_keys(const Keys& keys, const Options& options, Settings& settings) {
  for (const auto& key : keys) {
    if (key.write == nullptr) continue;
    std::optional<Value> value = key.write(key, options);
    if (key.omit_default && value == key.write(key, Options{})) continue;
    if (value) settings.set(key.name, *std::move(value));
  }
}

/// Returns the keys of a table, each with its default.
template <class Keys>
std::vector<KeyDescription> describe_keys(const Keys& keys) {
  std::vector<KeyDescription> described;
  for (const auto& key : keys) {
    std::optional<Value> fallback;
    if (!key.required && key.fallback.empty()) {
      const Settings nothing;
      SettingsReader read(nothing, std::string(key.name));
      typename std::remove_cvref_t<decltype(key)>::Holder options;
      key.read(read, key, options);
      if (key.write != nullptr) fallback = key.write(key, options);
    }
    described.push_back(describe_key(key, fallback));
  }
  return described;
}

// A struct that is stored in a file or sent to other ranks has one list of its fields:
//
//     constexpr std::array kFields{field<&Holder::host>("host"), field<&Holder::pid>("pid")};
//     const Settings settings = to_settings(kFields, holder);
//     const Holder again = from_settings(kFields, settings, "lock");

/// A field of Struct, and its name in settings.
template <class Struct>
struct Field {
  std::string_view name;
  Value (*write)(const Struct& from);
  void (*read)(SettingsReader& read, std::string_view name, Struct& to);
};

namespace fields {

/// The type that is stored for a value of type T.
template <class T>
struct StoredAs {
  using Type = keys::Stored<T>;
};
template <class T>
struct StoredAs<std::vector<T>> {
  using Type = std::vector<std::conditional_t<std::is_same_v<T, bool>, std::int64_t, keys::Stored<T>>>;
};

template <class To, class From>
To converted(const From& from) {
  if constexpr (std::is_arithmetic_v<From>) {
    return static_cast<To>(from);
  } else {
    return To(from.begin(), from.end());
  }
}

}  // namespace fields

/// Makes the field of a member, or of a member of a member: a number, text, or a list of them.
template <auto... kMembers>
constexpr auto field(std::string_view name) {
  using Path = keys::Path<kMembers...>;
  using Struct = typename Path::Holder;
  using Held = typename Path::Held;
  using Stored = typename fields::StoredAs<Held>::Type;
  return Field<Struct>{
      name,
      [](const Struct& from) { return to_value(KeyFacts{}, fields::converted<Stored>(Path::in(from))); },
      [](SettingsReader& read, std::string_view key, Struct& to) {
        auto& held = Path::in(to);
        held = fields::converted<Held>(read.get(key, fields::converted<Stored>(held)));
      }};
}

template <class Struct, std::size_t kCount>
Settings to_settings(const std::array<Field<Struct>, kCount>& fields, const Struct& from) {
  Settings settings;
  for (const Field<Struct>& field : fields) settings.set(field.name, field.write(from));
  return settings;
}

/// Fields that are missing keep their default. Throws Error for one of another type; `what` names the struct.
template <class Struct, std::size_t kCount>
Struct from_settings(const std::array<Field<Struct>, kCount>& fields, const Settings& settings,
                     std::string what) {
  SettingsReader read(settings, std::move(what));
  Struct to;
  for (const Field<Struct>& field : fields) field.read(read, field.name, to);
  return to;
}

}  // namespace convoke

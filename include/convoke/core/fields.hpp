#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "convoke/core/keys.hpp"

// A struct that is stored in a file or sent to other ranks has one list of its fields:
//
//     constexpr std::array kFields{field<&Holder::host>("host"), field<&Holder::pid>("pid")};
//     const Settings settings = to_settings(kFields, holder);
//     const Holder again = from_settings(kFields, settings, "lock");
namespace convoke {

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

#include "convoke/core/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

// Not named `quoted`: argument-dependent lookup of a std::string would find the one of <iomanip>.
std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

// Returns a key in TOML: without quotes if possible.
std::string key_text(std::string_view key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return bare ? std::string(key) : quoted_text(key);
}

// Returns the shortest text that reads back as the same double, and as a floating-point number.
std::string written(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

Value::Value(bool value) : data_(value) {}
Value::Value(int value) : data_(std::int64_t{value}) {}
Value::Value(std::int64_t value) : data_(value) {}
Value::Value(double value) : data_(value) {}
Value::Value(const char* value) : data_(std::string(value)) {}
Value::Value(std::string_view value) : data_(std::string(value)) {}
Value::Value(std::string value) : data_(std::move(value)) {}
Value::Value(Array value) : data_(std::move(value)) {}
// Assigns, because GCC 12 crashes if std::variant's copy constructor throws: the destructor of its base then
// reads an index that is not set yet.
Value::Value(const Value& other) : data_(false) { data_ = other.data_; }
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;
Value::Value(Settings value) : data_(std::vector<Settings>{std::move(value)}) {}

const Settings* Value::table() const {
  const auto* tables = std::get_if<std::vector<Settings>>(&data_);
  return tables == nullptr ? nullptr : &tables->front();
}

Settings* Value::table() { return const_cast<Settings*>(std::as_const(*this).table()); }

std::string_view Value::kind() const {
  static constexpr std::string_view kKinds[] = {"true or false", "a whole number", "a number",
                                                "text",          "a list",         "a table"};
  return kKinds[data_.index()];
}

std::string Value::to_string() const {
  return std::visit(Overloaded{
                        [](bool v) { return std::string(v ? "true" : "false"); },
                        [](std::int64_t v) { return fmt::format("{}", v); },
                        [](double v) { return written(v); },
                        [](const std::string& v) { return quoted_text(v); },
                        [](const Array& v) {
                          std::vector<std::string> parts;
                          for (const Value& item : v) parts.push_back(item.to_string());
                          return fmt::format("[{}]", join(parts));
                        },
                        [](const std::vector<Settings>& v) {
                          std::vector<std::string> parts;
                          for (const auto& [key, value] : v.front().entries()) {
                            parts.push_back(fmt::format("{} = {}", key_text(key), value.to_string()));
                          }
                          return parts.empty() ? std::string("{}") : fmt::format("{{ {} }}", join(parts));
                        },
                    },
                    data_);
}

std::string Value::plain_text() const {
  const auto* text = std::get_if<std::string>(&data_);
  return text != nullptr ? *text : to_string();
}

bool operator==(const Value& a, const Value& b) { return a.data_ == b.data_; }

const Value* Settings::find(std::string_view key) const {
  const auto it =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.first == key; });
  return it == entries_.end() ? nullptr : &it->second;
}

void Settings::set(std::string_view key, Value value) {
  if (Value* const known = find_mutable(key)) {
    *known = std::move(value);
  } else {
    entries_.emplace_back(std::string(key), std::move(value));
  }
}

void Settings::set(std::string_view key, Value value, std::string place) {
  set(key, std::move(value));
  std::erase_if(places_, [&](const auto& known) { return known.first == key; });
  if (!place.empty()) places_.emplace_back(std::string(key), std::move(place));
}

void Settings::set_path(std::string_view path, Value value, const std::string& place) {
  Settings* table = this;
  for (std::size_t begin = 0, dot = 0; dot != std::string_view::npos; begin = dot + 1) {
    dot = path.find('.', begin);
    const std::string_view key = path.substr(begin, dot - begin);
    if (key.empty()) throw Error("a key is empty", "write a path like train.optimizer.name");
    if (dot == std::string_view::npos) return table->set(key, std::move(value), place);
    Value* known = table->find_mutable(key);
    if (known == nullptr) {
      Settings created;
      created.set_where(place);
      table->set(key, std::move(created), place);
      table = table->find_mutable(key)->table();
      continue;
    }
    if (std::holds_alternative<std::string>(known->data())) {
      // After optimizer = "adam", optimizer.learning_rate = 0.01 turns the text into a table with that name.
      Settings named{{"name", *known}};
      named.set_where(table->place(key));
      *known = std::move(named);
    }
    table = known->table();
    if (table == nullptr)
      throw Error(fmt::format("\"{}\" is {}, not a table with keys", path.substr(0, dot), known->kind()));
    // Options of, say, an optimizer are checked together, so a message names all their places.
    if (begin > 0 && !place.empty()) table->set_where(fmt::format("{}, {}", table->where(), place));
  }
}

void Settings::rename(std::string_view path, std::string_view key) {
  const std::size_t dot = path.find('.');
  const std::string_view head = path.substr(0, dot);
  if (dot != std::string_view::npos) {
    Value* const value = find_mutable(head);
    if (value != nullptr && value->table() != nullptr) value->table()->rename(path.substr(dot + 1), key);
    return;
  }
  for (auto& [name, value] : entries_) {
    if (name == head) name = key;
  }
  for (auto& [name, place] : places_) {
    if (name == head) name = key;
  }
}

const std::string& Settings::place(std::string_view path) const {
  for (const auto& [key, place] : places_) {
    if (key == path) return place;
  }
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return where_;
  const std::string_view head = path.substr(0, dot);
  const Value* const value = find(head);
  const Settings* const table = value == nullptr ? nullptr : value->table();
  if (table == nullptr) return place(head);
  const std::string& inner = table->place(path.substr(dot + 1));
  return inner.empty() ? place(head) : inner;
}

SettingsReader::SettingsReader(const Settings& settings, std::string what)
    : settings_(settings), what_(std::move(what)) {}

void SettingsReader::fail(const std::string& message, std::string hint) const {
  fail_at({}, message, std::move(hint));
}

void SettingsReader::fail_at(std::string_view key, const std::string& message, std::string hint) const {
  const std::string& where = place(key);
  throw Error(fmt::format("{}{}{}: {}", where, where.empty() ? "" : ": ", what_, message), std::move(hint));
}

const Value* SettingsReader::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  return settings_.find(key);
}

const Value& SettingsReader::require(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) fail(fmt::format("\"{}\" is missing", key));
  return *value;
}

void SettingsReader::wrong_type(std::string_view key, const Value& value, std::string_view expected) const {
  fail_at(key,
          fmt::format("\"{}\" must be {}, but is {} ({})", key, expected, value.kind(), value.to_string()));
}

bool SettingsReader::holds_text(std::string_view key) const {
  const Value* value = settings_.find(key);
  return value != nullptr && std::holds_alternative<std::string>(value->data());
}

template <class T>
T SettingsReader::get_one(std::string_view key, const T& fallback, std::string_view expected) {
  const Value* value = find(key);
  if (value == nullptr) return fallback;
  const std::optional<T> one = value->as<T>();
  if (!one) wrong_type(key, *value, expected);
  return *one;
}

template <class T>
std::vector<T> SettingsReader::get_list(std::string_view key, const std::vector<T>& fallback,
                                        std::string_view expected) {
  const Value* value = find(key);
  if (value == nullptr) return fallback;
  const auto* list = std::get_if<Value::Array>(&value->data());
  std::vector<T> out;
  for (const Value& item : list == nullptr ? std::span(value, 1) : std::span(*list)) {
    const std::optional<T> one = item.as<T>();
    if (!one) wrong_type(key, *value, expected);
    out.push_back(*one);
  }
  return out;
}

bool SettingsReader::get(std::string_view key, bool fallback) {
  return get_one(key, fallback, "true or false");
}

std::int64_t SettingsReader::get(std::string_view key, std::int64_t fallback) {
  return get_one(key, fallback, "a whole number");
}

double SettingsReader::get(std::string_view key, double fallback) {
  return get_one(key, fallback, "a number");
}

std::string SettingsReader::get(std::string_view key, const std::string& fallback) {
  return get_one(key, fallback, "text");
}

std::vector<std::int64_t> SettingsReader::get(std::string_view key,
                                              const std::vector<std::int64_t>& fallback) {
  return get_list(key, fallback, "a whole number or a list of them");
}

std::vector<double> SettingsReader::get(std::string_view key, const std::vector<double>& fallback) {
  return get_list(key, fallback, "a number or a list of them");
}

std::vector<std::string> SettingsReader::get(std::string_view key, const std::vector<std::string>& fallback) {
  return get_list(key, fallback, "text or a list of texts");
}

std::int64_t SettingsReader::get_count(std::string_view key, std::int64_t fallback, std::int64_t minimum) {
  const std::int64_t count = get(key, fallback);
  check(key, count >= minimum, fmt::format("at least {}", minimum));
  return count;
}

std::int64_t SettingsReader::require_int(std::string_view key) {
  require(key);
  return get(key, std::int64_t{0});
}

std::string SettingsReader::require_string(std::string_view key) {
  require(key);
  return get(key, std::string());
}

Settings SettingsReader::placed(std::string_view key, Settings table) const {
  if (table.where().empty()) table.set_where(place(key));
  return table;
}

Settings SettingsReader::table(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return placed(key, {});
  if (const auto* name = std::get_if<std::string>(&value->data())) return placed(key, {{"name", *name}});
  if (value->table() == nullptr) wrong_type(key, *value, "a table");
  return placed(key, *value->table());
}

std::vector<Settings> SettingsReader::tables(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return {};
  const auto* list = std::get_if<Value::Array>(&value->data());
  if (list == nullptr) wrong_type(key, *value, "a list of tables");
  std::vector<Settings> out;
  for (const Value& item : *list) {
    if (item.table() == nullptr) wrong_type(key, item, "a table");
    out.push_back(placed(key, *item.table()));
  }
  return out;
}

void SettingsReader::check(std::string_view key, bool holds, std::string_view expected,
                           std::string hint) const {
  if (holds) return;
  const Value* value = settings_.find(key);
  fail_at(key,
          fmt::format("\"{}\" must be {}{}", key, expected,
                      value == nullptr ? "" : ", but is " + value->to_string()),
          std::move(hint));
}

void SettingsReader::finish() {
  for (const auto& [key, value] : settings_.entries()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    fail_at(key, fmt::format("unknown key \"{}\"{}", key, did_you_mean(key, known_)),
            fmt::format("known keys: {}", join(known_)));
  }
}

}  // namespace convoke

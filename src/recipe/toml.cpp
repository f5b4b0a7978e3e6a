#include "convoke/recipe/toml.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"

namespace convoke::recipe {
namespace {

// A hostile file must not exhaust the stack. toml++ limits nested values, but not the parts of a dotted key.
constexpr int kMostNested = 100;
constexpr std::ptrdiff_t kMostDots = 5000;  // in a line

void check_dots(const std::string& text, const std::string& source) {
  int line = 1;
  for (auto begin = text.begin(); begin != text.end(); ++line) {
    const auto end = std::find(begin, text.end(), '\n');
    if (std::count(begin, end, '.') > kMostDots)
      throw Error(fmt::format("{}:{}: the line has more than {} dots", source, line, kMostDots),
                  "divide the line");
    begin = end == text.end() ? end : end + 1;
  }
}

// Converts toml++'s tree: values become settings, tables get their place, keys their order.
class Converter {
 public:
  // `place` returns the place of a line: "recipe.toml:14", or "--set ..." for all lines.
  using Place = std::function<std::string(std::uint32_t line)>;
  explicit Converter(Place place) : place_(std::move(place)) {}

  Settings table(const toml::table& from) {
    // toml++ sorts the keys of a table; their places give the order of the text.
    std::vector<std::pair<const toml::key*, const toml::node*>> entries;
    for (const auto& [key, node] : from) entries.emplace_back(&key, &node);
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.first->source().begin < b.first->source().begin; });
    Settings to;
    to.set_where(place_(from.source().begin.line));
    if (++depth_ > kMostNested)
      throw Error(fmt::format("{}: tables are nested more than {} deep", to.where(), kMostNested),
                  "see docs/recipes.md for the tables of a recipe");
    for (const auto& [key, node] : entries)
      to.set(key->str(), value(*node), place_(key->source().begin.line));
    --depth_;
    return to;
  }

 private:
  Value value(const toml::node& node) {
    if (const auto* v = node.as_boolean()) return v->get();
    if (const auto* v = node.as_integer()) return v->get();
    if (const auto* v = node.as_floating_point()) return v->get();
    if (const auto* v = node.as_string()) return v->get();
    if (const auto* v = node.as_table()) return table(*v);
    if (const auto* v = node.as_array()) {
      Value::Array list;
      for (const toml::node& item : *v) list.push_back(value(item));
      return list;
    }
    throw Error(place_(node.source().begin.line) + ": dates and times are not supported",
                "write the value in quotes, as text");
  }

  Place place_;
  int depth_ = 0;
};

bool holds_table(const Value& value) {
  const auto* list = std::get_if<Value::Array>(&value.data());
  return list != nullptr &&
         std::any_of(list->begin(), list->end(), [](const Value& v) { return v.table() != nullptr; });
}

void write_entry(std::string& out, const std::string& key, const Value& value) {
  if (!holds_table(value)) {
    out += fmt::format("{} = {}\n", key, value.to_string());
    return;
  }
  out += fmt::format("{} = [\n", key);
  for (const Value& item : std::get<Value::Array>(value.data()))
    out += fmt::format("  {},\n", item.to_string());
  out += "]\n";
}

}  // namespace

Settings parse_toml(const std::string& text, const std::string& source) {
  check_dots(text, source);
  try {
    const toml::table root = toml::parse(text, source);
    Converter converter([&](std::uint32_t line) { return fmt::format("{}:{}", source, std::max(line, 1U)); });
    Settings document = converter.table(root);
    document.set_where(source);
    return document;
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("{}:{}: {}", source, error.source().begin.line, error.description()),
                "recipes are written in TOML, see docs/recipes.md and https://toml.io");
  }
}

Value parse_value(const std::string& text, const std::string& place) {
  if (text.find('\n') != std::string::npos) return text;  // it could contain further keys
  try {
    const toml::table root = toml::parse("value = " + text);
    return *Converter([&](std::uint32_t) { return place; }).table(root).find("value");
  } catch (const toml::parse_error&) {
    return text;
  } catch (const Error&) {
    return text;  // a date
  }
}

std::string to_toml(const Settings& settings) {
  std::string out;
  for (const auto& [key, value] : settings.entries()) {
    if (value.table() == nullptr) write_entry(out, key, value);
  }
  for (const auto& [section, value] : settings.entries()) {
    if (value.table() == nullptr) continue;
    out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", section);
    for (const auto& [key, inner] : value.table()->entries()) write_entry(out, key, inner);
  }
  std::size_t at = 0;
  while (at < out.size()) {
    const std::size_t bytes = utf8_length(std::string_view(out).substr(at));
    if (bytes == 0) {
      const std::size_t begin = out.rfind('\n', at) + 1;
      throw Error(fmt::format("{}: is not UTF-8, which recipe.toml needs",
                              one_line(out.substr(begin, out.find('\n', at) - begin))),
                  "rename the file or folder, or reach it by a link with another name");
    }
    at += bytes;
  }
  return out;
}

}  // namespace convoke::recipe

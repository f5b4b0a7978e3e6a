#include "convoke/nn/layer_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace convoke::nn {
namespace {

using List = std::vector<std::int64_t>;

bool in_range(const KeyFacts& key, const List& list) {
  return std::all_of(list.begin(), list.end(),
                     [&](std::int64_t n) { return key.range.contains(static_cast<double>(n)); });
}

bool any_negative(const List& list) {
  return std::any_of(list.begin(), list.end(), [](std::int64_t amount) { return amount < 0; });
}

Extent read_extent(SettingsReader& read, const KeyFacts& key) {
  const List list = read.get(key.name, List{});
  check_key(read, key, (list.size() == 1 || list.size() == 2) && in_range(key, list),
            fmt::format("a number >= {0} or [height, width], each >= {0}", key.range.least));
  return {list.front(), list.back()};
}

// Reads the amounts at the sides of an image.
Border read_border(SettingsReader& read, const KeyFacts& key, std::string_view expected) {
  const List list = read.get(key.name, List{});
  const std::size_t count = list.size();
  check_key(read, key, (count == 1 || count == 2 || count == 4) && !any_negative(list), expected);
  if (count == 4) return {{list[0], list[2]}, {list[1], list[3]}};
  return Extent(list.front(), list.back());
}

// Reads a padding that has a name. Throws Error with `expected` for another name.
Padding named_padding(SettingsReader& read, const KeyFacts& key, bool causal, std::string_view expected) {
  const std::string name = read.get(key.name, "");
  check_key(read, key, name == "valid" || name == "same" || (causal && name == "causal"), expected);
  return name == "same" ? Padding::same() : name == "causal" ? Padding::causal() : Padding::valid();
}

std::string_view name_of(Padding::Kind kind) {
  return kind == Padding::Kind::kSame ? "same" : kind == Padding::Kind::kCausal ? "causal" : "valid";
}

Value write_extent(Extent extent) {
  if (extent.height == extent.width) return extent.height;
  return Value::Array{extent.height, extent.width};
}

}  // namespace

void read_value(SettingsReader& read, const KeyFacts& key, Extent& value) {
  if (is_written(read, key)) value = read_extent(read, key);
}

void read_value(SettingsReader& read, const KeyFacts& key, std::optional<Extent>& value) {
  if (!is_written(read, key)) return;
  if (*read.find(key.name) == Value("auto")) return value.reset();
  check_key(read, key, !read.holds_text(key.name), "\"auto\", a number >= 0 or [height, width]");
  value = read_extent(read, key);
}

void read_value(SettingsReader& read, const KeyFacts& key, Padding& value) {
  if (!is_written(read, key)) return;
  constexpr std::string_view kExpected =
      "\"valid\", \"same\", a number >= 0, [height, width] or [top, bottom, left, right]";
  if (read.holds_text(key.name)) {
    value = named_padding(read, key, false, kExpected);
  } else {
    const Border border = read_border(read, key, kExpected);
    value = Padding::by(border.before, border.after);
  }
}

void read_value(SettingsReader& read, const KeyFacts& key, Border& value) {
  if (is_written(read, key))
    value = read_border(read, key, "a number >= 0, [height, width] or [top, bottom, left, right]");
}

void read_value(SettingsReader& read, const KeyFacts& key, Initializer& value) {
  if (is_written(read, key)) value = Initializer(read.table(key.name));
}

void read_sequence_padding(SettingsReader& read, const KeyFacts& key, bool causal, Padding& value) {
  if (!is_written(read, key)) return;
  const std::string expected =
      fmt::format("\"valid\", \"same\", {}a number >= 0 or [before, after]", causal ? "\"causal\", " : "");
  if (read.holds_text(key.name)) {
    value = named_padding(read, key, causal, expected);
    return;
  }
  const List list = read.get(key.name, List{});
  check_key(read, key, (list.size() == 1 || list.size() == 2) && !any_negative(list), expected);
  value = Padding::by({0, list.front()}, {0, list.back()});
}

Value to_value(const KeyFacts&, Extent value) { return write_extent(value); }

Value to_value(const KeyFacts&, const std::optional<Extent>& value) {
  return value ? write_extent(*value) : Value("auto");
}

Value to_value(const KeyFacts&, const Padding& value) {
  if (value.kind != Padding::Kind::kExplicit) return name_of(value.kind);
  const Extent &before = value.before, &after = value.after;
  if (before == after) return write_extent(before);
  return Value::Array{before.height, after.height, before.width, after.width};
}

Value to_value(const KeyFacts& key, const Border& value) {
  return to_value(key, Padding::by(value.before, value.after));
}

Value to_value(const KeyFacts&, const Initializer& value) { return value.write(); }

Value write_sequence_padding(const Padding& padding) {
  if (padding.kind != Padding::Kind::kExplicit) return name_of(padding.kind);
  if (padding.before == padding.after) return padding.before.width;
  return Value::Array{padding.before.width, padding.after.width};
}

}  // namespace convoke::nn
